"""Regular expressions that meet text from outside, each in a time that grows with the text alone.

In comes Python's own syntax, out come `Pattern`s. Python's engine tries every way through a pattern
and may need years for a short text; it is used only where `cost.py` proves that it cannot. All
else is run by `scanning.py`, which reads a text once. May import nothing else of the core.
"""
