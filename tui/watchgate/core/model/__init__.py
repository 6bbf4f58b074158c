"""The values that are passed around: events, verdicts, requests, records, grants and views.

Frozen structs and the tables of their words, above all `outcomes`: how a request can end. Nothing
here decides or remembers anything. It imports base alone.
"""
