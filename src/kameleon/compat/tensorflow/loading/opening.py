"""The function that reads graphs of files."""

from __future__ import annotations

import os
from collections.abc import Collection

from kameleon._utils.tracebacks import boundary

from .built import Shapes
from .found import find
from .graphs import Graph


@boundary
def load_graph(
    path: str | os.PathLike[str],
    shapes: Shapes | None = None,
    tags: str | Collection[str] | None = None,
) -> Graph:
    """A graph that TensorFlow 1 wrote, as tensors and variables of K's; TensorFlow isn't needed.

    Args:
        path: a frozen graph (`.pb`, or as a text `.pbtxt`), the folder of a SavedModel, or a meta
            graph (`.meta`) with its checkpoint beside it.
        shapes: by name of a placeholder, a shape in place of the one in the file. Sizes that stay
            open cost time where an operation must know them; some loops can't do without.
        tags: of the graph in a SavedModel; the one that is served, if None.

    Returns:
        A `Graph`: `graph['conv1/Relu:0']` is a tensor.

    Raises:
        FileFormatError: what lies there is no graph of TensorFlow's, or is damaged.
        MissingLibraryError: (an ImportError) protobuf isn't installed.
        ArgumentError: `path` is no path; `shapes` names what is no placeholder; no graph has the
            tags.

    >>> import os, tempfile
    >>> from kameleon import backend as K
    >>> text = '''
    ... node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
    ...   attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
    ... node { name: "relu" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'graph.pbtxt')
    ...     with open(path, 'w') as file:
    ...         _ = file.write(text)
    ...     graph = load_graph(path)
    >>> graph.inputs, graph.outputs
    (['x:0'], ['relu:0'])
    >>> K.function([graph['x']], [graph['relu']])([[[1., -2.]]])
    [array([[1., 0.]], dtype=float32)]
    """
    return Graph(find(path, tags), shapes or {})
