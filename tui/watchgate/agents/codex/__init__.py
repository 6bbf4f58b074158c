"""Codex: its hooks, those of its fork, and its app server."""
