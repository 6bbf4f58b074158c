"""Inputs of calls that are too large for the journal to hold them in every record of the call."""
