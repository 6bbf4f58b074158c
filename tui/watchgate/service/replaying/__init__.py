"""Deciding a recording again: what was recorded goes through the live path with a virtual clock."""
