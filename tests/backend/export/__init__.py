"""Functions of K in files of other libraries."""
