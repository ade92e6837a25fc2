"""Graphs of TensorFlow's files as K's, without TensorFlow: `kameleon.load_graph`.

found    what lies at a path: a frozen graph, a SavedModel's folder, a meta graph
built    a message as a graph of operations; what isn't in the table
apart    operations that can't be built before sizes are known, as calls
graphs   the graph that users have
opening  the function that gives it
"""

from .graphs import Graph as Graph
from .graphs import Signature as Signature
from .opening import load_graph as load_graph
