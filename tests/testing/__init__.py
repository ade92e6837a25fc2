"""The conformance kit, the checker of gradients, the comparison of engines."""
