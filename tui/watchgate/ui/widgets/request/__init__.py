"""The whole of a request or a call."""
