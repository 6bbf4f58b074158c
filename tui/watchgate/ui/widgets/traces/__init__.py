"""The panes of the Traces screen: the calls that hooks saw, and one call's hooks."""
