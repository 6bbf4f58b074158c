"""Shared parts of commands: printing and exit codes, typed input, the environment, the core.

It imports nothing else of the command line.
"""
