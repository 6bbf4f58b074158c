"""Shares of the core for each asking process: descriptors, connections, unfinished bytes.

A pid and an amount come in; a grant, or in words why there is none, goes out.
"""
