"""Programs of K as native objects of other libraries: a module for each library."""
