"""What `import keras`, `import tensorflow` and `import theano` give old programs."""
