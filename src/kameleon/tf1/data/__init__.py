"""`tf.data` of TensorFlow 1: datasets, iterators over them, and files of records."""
