"""Import of agents' permission rules: read from their files and translated into our rules.

Texts of settings come in, rules and what could not be translated go out. It imports judging, rules
and inputs.
"""
