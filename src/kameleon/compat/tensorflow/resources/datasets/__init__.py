"""Datasets: how to give elements, one after the other, as often as they're iterated.

base      what datasets have in common
sources   elements of arrays, of files, of functions
elements  other elements, or fewer: mapped, filtered, batched, taken
orders    other orders: shuffled, repeated, kept
mixing    several datasets in one: by turns, one behind the other
groups    elements that go together: windows, groups by keys
"""
