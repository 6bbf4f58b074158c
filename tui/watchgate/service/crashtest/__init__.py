"""The crash test: an installed agent is run with hooks that misbehave.

An agent comes in, one outcome for each fault of a hook goes out. It imports runners.
"""
