"""Telling somebody elsewhere of a request that nobody answers."""
