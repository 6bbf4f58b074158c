"""The changes of an edit: as lines, and as a section of a request.

The blocks of an edit come in, lines go out. It imports the widgets' base, and the tools, model and
base of the core.
"""
