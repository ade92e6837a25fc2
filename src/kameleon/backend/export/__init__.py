"""Functions in files of other libraries: a module for each format, and one entry for all."""
