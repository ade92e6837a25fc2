"""One folder or file for each engine. Nothing is imported here: engines load when needed."""
