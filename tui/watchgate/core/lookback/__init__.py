"""Calls that agents asked for, read from transcripts afterwards, judged and counted.

Calls come in, in any order and with copies; one report of what each profile would have done goes
out, with proposals of rules and grants. It imports policy, gate (for the grants) and what lies
below them.
"""
