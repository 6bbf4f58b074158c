"""Inputs and records as JSON trees that can be folded."""
