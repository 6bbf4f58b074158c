"""Perl as `perl -e`, `-n` and `-p` are given it.

A text comes in, a `CodeReading` goes out: the shell commands that do the same, or the reason why it
is not understood. Its tokens are our own. It imports `code_reading`, shell and base.
"""
