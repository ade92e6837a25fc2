"""Sparse tensors of TensorFlow 1 over K's: indices, values and a dense shape, all in the graph.

Results have their elements in row-major order, as TensorFlow's have.
"""
