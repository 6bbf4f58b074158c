"""The panes of the History screen: the list of recorded calls, and one of them in full."""
