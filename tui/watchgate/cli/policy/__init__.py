"""`policy`: checks, explains, tests and imports rules, and judges the past by others.

Rule files and calls come in, text and an exit code go out. It imports base, the readers of history
and the base of the core, and the rest when a command runs.
"""
