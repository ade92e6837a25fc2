"""TensorFlow 1's names over K: what old programs get where they say `import tensorflow as tf`.

conventions     what all functions share: the argument `name`
names, modules  the table of all names, and the modules in which programs find them
others          a file for each subject, with a table `NAMES` of its own
"""
