"""One session and its sub-agents."""
