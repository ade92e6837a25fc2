"""The programs of `../../examples`."""
