"""Watchgate's crash test: hooks that misbehave, given to an agent that runs here."""
