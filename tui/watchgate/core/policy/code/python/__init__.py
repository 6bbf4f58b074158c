"""Python, read by its syntax tree for what it does.

A text comes in, a `CodeReading` goes out: the shell commands that do the same, or the reason why it
is not understood. Nothing of it is run. It imports `code_reading`, shell and base.
"""
