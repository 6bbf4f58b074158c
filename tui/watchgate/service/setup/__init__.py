"""The installer: an agent's configuration gains or loses our hooks, and nothing else in it changes.

An agent and a scope come in, planned changes and a manifest of what is installed go out. It runs in
a command of its own and holds no part of a core. It imports prices and system.
"""
