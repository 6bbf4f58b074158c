"""Code of other languages that stands in a command, read for what it does.

A text comes in; the shell commands that do the same go out, or the reason why it is not understood.
Each language has a reader, and one file that knows its parser. It imports shell.
"""
