"""Usage from agents' files: finds them, follows them, prices their calls, and judges them later.

Files on this disk come in; calls, sums and `usage.counted` records go out. It imports hub, journal,
prices, search and system.
"""
