"""Decides a recording again: its events go through the live path with a virtual clock."""
