"""The graph: types, nodes, primitives, closed programs, and the walks over them."""
