"""Secrets in texts: tokens by their beginning, values by what announces them, words of programs.

A text or the JSON of one comes in, the places of its secrets and redacted views of records go out.
The kinds are data. It imports model and base.
"""
