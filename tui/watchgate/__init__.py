"""Watchgate: watch your coding agents, gate what they run."""

__version__ = "0.1.0"
