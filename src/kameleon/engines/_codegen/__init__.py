"""Source that is emitted and run: which values and names it may hold, functions of fixed arity."""
