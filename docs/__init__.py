"""The documentation: its pages, and the commands that make what is made of them."""
