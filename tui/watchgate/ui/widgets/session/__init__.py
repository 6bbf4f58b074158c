"""Sessions: the list of live ones, and one as a page with its agents as a tree.

Views of sessions come in, lines and the chosen session go out. It imports the widgets' base and
calls, costs, fleet, view_model, keys, and the state of the core and what lies below that.
"""
