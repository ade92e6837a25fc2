"""Running what a session fetches.

prepared  plans for what is fetched and fed; calls of functions
expansion functions in the place of what calls them
races     what nothing orders, in the order of TensorFlow's threads
plan      the part of a graph that is needed, cut into regions and single operations
units     those
levels    how much of the host lies before each element
waits     what may wait for what the same run does
structure loops and choices found again
counting  how many turns loops have; ahead of them, where only their own values tell
bodies    what elements give
choices   choices as K's
loops     loops as K's
compiled  a region as one compiled function of K
regions   runs regions: compiled for what comes in, or divided
marks     what stands in the place of a value that there isn't
blocks    units in the order in which they run, and places for their values
steps     what units do in a turn
executor  runs a plan: steps in order, those that wait again
spans     what ran when, where it's asked
session   plans by what is fetched and fed
partial   runs in parts
"""
