"""Agents that speak the Agent Client Protocol."""

from watchgate.agents.acp.adapter import ADAPTER

__all__ = ["ADAPTER"]
