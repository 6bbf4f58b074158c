"""The crash test: an installed agent is run with hooks that misbehave."""
