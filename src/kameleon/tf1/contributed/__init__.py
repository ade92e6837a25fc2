"""What `tf.contrib` has beside layers and cells: variables, losses, training, older names."""
