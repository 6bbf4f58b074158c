"""One request or call in full: text, findings, facts and input, as lines and as panes.

A request or a call comes in, lines go out, and word of what was drawn. It imports the widgets of
diffs, payloads, traces and calls, approval, costs, view_model, keys, and the core up to its state.
"""
