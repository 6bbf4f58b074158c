"""The queue of open requests: its list, a summary in its place, and the tiny form."""
