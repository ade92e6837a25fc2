"""Random programs for TensorFlow 1: graphs, and calls of sessions.

    python -m fuzz.tensorflow --minutes 5                     # in tests/, or with it on PYTHONPATH
    python -m fuzz.tensorflow --original /path/to/python3.7   # against TensorFlow 1.15
    python -m fuzz.tensorflow --seed 17 --programs 1 --engines torch,jax

A program is Python text: tensors, loops, choices, gradients, variables that change in a known
order, then runs with feeds of several sizes. Static shapes, names and errors count, too. Without an
original, what is compiled is held against the same graph, each operation of which is compiled
alone. What is found is shrunk and printed; `python server.py PROGRAM` runs such a program again.
"""
