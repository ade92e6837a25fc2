"""Looking into a function that runs: values in between, what isn't finite, statistics, times."""
