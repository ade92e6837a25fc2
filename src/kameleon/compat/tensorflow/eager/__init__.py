"""Eager execution: operations that run when they're called, tapes that record them.

tensors       the class of eager tensors
conversion    Python values as arrays, by TensorFlow's rules
signatures    what types of operations take and give
execution     a call with Python values
kernels       an operation as a compiled function, functions whose bodies are graphs
tapes         what was done, and gradients of it
followers     gradients forwards
context       what operations share
"""
