"""Functions of K as native objects of other libraries."""
