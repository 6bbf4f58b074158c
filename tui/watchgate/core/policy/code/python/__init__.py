"""Python, read by its syntax tree for what it does."""
