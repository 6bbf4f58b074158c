"""The live calls as a table: its columns, its rows from the ring, and the table itself.

A state comes in, lines and the chosen call go out. It imports the widgets' base, keys, and the
state of the core and what lies below that.
"""
