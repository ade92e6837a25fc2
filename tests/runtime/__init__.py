"""Calls: what functions take, give and change, in threads, processes and files."""
