"""`kameleon check`: what in a program Kameleon can't serve, read from the program's text alone.

alive       the parts of a program that run here
reading     what the names in it stand for
files       packages that are read, and never imported: Keras and TensorFlow
operations  which of TensorFlow's operations a function makes
libraries   what Python's own library and NumPy have
served      whether a name is there, as the tables say that `kameleon run` goes by
findings    what is wrong with a program
command     the command, and how findings are shown
"""
