"""The queue of open requests: its list, a summary in its place, and the tiny form.

Requests of a moment come in, lines and the chosen request go out. It imports the widgets' base,
approval, view_model, keys, source, and the state of the core and what lies below that.
"""
