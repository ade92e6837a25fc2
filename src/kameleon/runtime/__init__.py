"""Running graphs: engines, state, compiled functions."""
