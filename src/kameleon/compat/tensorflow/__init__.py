"""TensorFlow 1.15's own Python files, above Kameleon's graph.

location    where the files are
wheel       reads them out of TensorFlow's wheel
source      what today's Python, NumPy and protobuf want otherwise in them (changes.txt)
importing   `import tensorflow_core`, from these files
late        parts of them that are loaded when a program asks for them
graph       graphs of operations
walks       what is needed, and an order of it
capi        the C API that they call, which makes and runs graphs
shapes      static shapes, by type of operation
operations  values, by type of operation: a table
variables   what a session keeps between runs
paths       names of files, and patterns of them
showing     values as messages show them
eager       operations that run at once, tapes
protocol    messages and definitions, for graphs without TensorFlow's files
loading     graphs of files: `kameleon.load_graph`
running     a fetched part of a graph, as compiled functions
"""
