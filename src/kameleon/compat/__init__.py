"""What old programs meet: libraries of their days, above Kameleon's graph.

The core doesn't know this package. It imports, runs and passes its tests without it.
"""
