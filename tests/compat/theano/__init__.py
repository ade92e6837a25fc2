"""Programs of Theano."""
