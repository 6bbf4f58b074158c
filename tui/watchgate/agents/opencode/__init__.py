"""OpenCode: our plugin in it, and its stream of events."""

from watchgate.agents.opencode.adapter import ADAPTER

__all__ = ["ADAPTER"]
