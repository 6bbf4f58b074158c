"""Recorded calls."""
