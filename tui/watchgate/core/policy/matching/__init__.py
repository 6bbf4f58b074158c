"""Matchers: what a rule of a policy file asks of a command or a call, compiled once."""
