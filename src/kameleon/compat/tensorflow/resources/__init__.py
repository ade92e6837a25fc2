"""What lives on the host between runs: queues, areas, sums, locks.

base      what all have in common
waiting   what a run may have to wait for
queues    queues that threads fill and empty
staging   values that one run leaves for another; sums that it takes
barriers  values in parts; locks
philox    the random numbers that shuffle
"""
