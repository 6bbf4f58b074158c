"""Code of other languages that stands in a command, read for what it does.

Awk programs as commands are given them.
"""
