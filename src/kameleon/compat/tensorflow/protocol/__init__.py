"""What files of TensorFlow's graphs are made of, without TensorFlow's own Python files.

messages    the messages of protocol buffers that graphs and checkpoints are written as
tensors     arrays and shapes as messages
signatures  the definitions of the types of operations that the table has
"""
