"""Regular expressions that meet text from outside, each in a time that grows with the text alone.

Python's own syntax comes in, `Pattern`s go out. Python's engine tries every way through a pattern
and may need years for a short text; it is used only where `pattern_cost` proves that it cannot. All
else is run by `automaton`, which reads a text once. It imports nothing else of the core.
"""
