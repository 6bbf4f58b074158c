"""The hooks that a profile installs, with the matchers that send tools to one of them.

A matcher holds whether an agent searches for a match or wants the whole name to match.
"""
