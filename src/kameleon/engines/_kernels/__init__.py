"""Array functions of NumPy that all engines may borrow; they know nothing of graphs."""
