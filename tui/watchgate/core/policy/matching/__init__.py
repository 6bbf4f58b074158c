"""Matchers of rules: what a policy file asks of a command or a call, compiled once."""
