"""Matchers of rules: what a policy file asks of a command or a call, compiled once.

A row of a rule file comes in, a test of calls goes out. It imports inputs, shell and code.
"""
