"""Secrets in texts: tokens by their beginning, values by what announces them, words of programs.

In comes a text or the JSON of one, out come the places of its secrets. The kinds are data:
`tokens.py`, `announced.py`, `arguments.py`. May import `core.text` and `core.patterns` alone.
"""
