"""The queue of open requests."""
