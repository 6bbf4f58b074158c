"""Calls that agents asked for, read from transcripts afterwards, judged and counted.

In come calls in any order, with copies; out comes one report of what each profile would have done,
and proposals of rules and grants. Imports the policy, the grants and what lies below them.
"""
