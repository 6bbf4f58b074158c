"""Copies of records for other programs; none of them can slow or change a decision.

Records come in, lines and posts go out. It imports identity and system.
"""
