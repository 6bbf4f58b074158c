"""Recorded calls, sessions and records, read back from the journal; and the purge of a session.

A page or a filter comes in, rows and records go out. It imports search, journal and system.
"""
