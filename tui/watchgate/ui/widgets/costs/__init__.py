"""The panes of the Costs screen: overview, charts, the table of sessions, one session's page.

Sums and the usage of sessions come in, lines go out. It imports the widgets' base, the words and
figures of `ui.costs`, keys, source, and the usage, model and base of the core.
"""
