"""The primitives: one table of cases, and the tests that it drives."""
