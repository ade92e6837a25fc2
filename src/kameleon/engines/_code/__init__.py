"""Straight-line Python code over a library's array functions, for engines that run such code."""
