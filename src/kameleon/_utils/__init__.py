"""What all parts use: locks, threads, scopes, files, tables of text, tracebacks."""
