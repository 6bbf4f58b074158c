"""One core from its start to its end: its options, its run, and what it takes over.

A configuration comes in, open sockets and an exit code go out. It may import every other room but
doctor.
"""
