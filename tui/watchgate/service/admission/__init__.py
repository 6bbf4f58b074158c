"""How much of the core one asking process may take: descriptors, connections, unfinished bytes.

A pid and an amount come in; a grant, or in words why there is none, goes out.
"""
