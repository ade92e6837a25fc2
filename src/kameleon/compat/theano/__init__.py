"""Theano's names over K: what old programs get where they say `import theano`.

tensors    functions of tensors, and tensors without values
networks   activations, costs, convolutions and pools
functions  `theano.function`, shared variables, gradients, loops
streams    random numbers
methods    what tensors have beside those of K
modules    the table of all names, and the modules in which programs find them
"""
