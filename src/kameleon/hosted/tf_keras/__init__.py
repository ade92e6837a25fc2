"""`tf.keras` of TensorFlow 1.13 to 2.3, over the hosted Keras 2.3.1: what differs between the two.

modules       `tensorflow.keras` and the modules in it: names of the table, else the hosted Keras's
table         what is in the table, from the files of the subjects
version       whether TensorFlow 1's or 2's defaults are meant
variants      layers whose defaults or arguments differ
base, own     what layers have beside Keras's; what layers of the program may do
operations    functions on tensors of K between layers, as layers
"""
