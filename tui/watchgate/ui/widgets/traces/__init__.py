"""The panes of the Traces screen: the calls that hooks saw, and one call's hooks.

Traces come in, lines and the chosen handler go out. It imports the widgets' base, keys, and the
filters, history and state of the core and what lies below them.
"""
