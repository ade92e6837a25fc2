"""Golden cases: what the original backend returned, and the runner that compares."""
