"""Colours and characters."""
