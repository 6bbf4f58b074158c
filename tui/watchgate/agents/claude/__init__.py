"""Claude Code: its hooks, and what it speaks beside them."""

from watchgate.agents.claude.adapter import ADAPTER

__all__ = ["ADAPTER"]
