"""Inputs and records as JSON trees that can be folded.

JSON values come in, lines with secrets covered go out. It imports the widgets' base, keys, and the
secrets, model and base of the core.
"""
