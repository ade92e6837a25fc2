"""The Theano engine, on PyTensor, its living continuation."""
