"""One editor for each shape of hook file: JSON, JSON with comments, TOML, a plugin's file.

A file's bytes come in, its bytes with our entries or without them go out.
"""
