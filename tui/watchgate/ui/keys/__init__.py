"""The registry of keys, and what they do."""
