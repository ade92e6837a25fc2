"""`kameleon convert`: models of Keras 2 and graphs of TensorFlow 1 as files of other libraries.

`command` has the command line; `sources` tells what lies at a path; `models` and `graphs` make a
function of it, and `targets` writes that. The Kerases 2 and 3 have one name, so each has a process
of its own: `keras2` reads a model, `keras3` writes one, and `apart` runs these.
"""
