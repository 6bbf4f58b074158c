"""The panes of the History screen: the list of recorded calls, and one of them in full.

Rows and records of past calls come in, lines and the chosen call go out. It imports the widgets'
base, keys, source, and the history, state, tools, model and base of the core.
"""
