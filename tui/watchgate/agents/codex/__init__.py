"""Codex: its hooks, those of its fork, and its app server."""

from watchgate.agents.codex.adapter import ADAPTER

__all__ = ["ADAPTER"]
