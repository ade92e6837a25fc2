"""`kameleon convert`: models of Keras 2, graphs of TensorFlow 1 and saved functions as files of
other libraries.

`command` has the command line; `sources` tells what lies at a path; `models`, `graphs` and
`functions` make a function of it, and `targets` writes that. The Kerases 2 and 3 have one name, so
each has a process of its own: `keras2` reads a model, `keras3` writes one, and `apart` runs these.
"""
