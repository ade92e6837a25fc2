"""`tf.estimator`: a model's function, trained, evaluated and asked by functions that give data."""
