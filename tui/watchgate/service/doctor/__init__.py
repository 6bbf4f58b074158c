"""The doctor: checks this machine and each agent's way to the core, by real calls.

Paths and adapters come in, `Check`s that say how to mend it go out. It imports setup, watch, wire
and system, and holds no part of a core.
"""
