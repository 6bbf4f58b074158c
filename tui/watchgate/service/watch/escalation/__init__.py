"""Notifies somebody elsewhere of a request that nobody answers."""
