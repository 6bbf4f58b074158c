"""Shares of the core for each asking process: descriptors, connections, unfinished bytes.

A pid and an amount come in; an admission, or the reason against one, goes out. It imports identity,
wire and system.
"""
