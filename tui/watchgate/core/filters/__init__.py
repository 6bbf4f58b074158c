"""The filter language of `tail`, `search` and the console: parsed, completed and tested.

A text comes in, a `Filter` over records and rows goes out, or an error with its place. It imports
history, state and what lies below them.
"""
