"""The symbolic core: nodes and programs, primitives, gradients, facts about graphs, passes."""
