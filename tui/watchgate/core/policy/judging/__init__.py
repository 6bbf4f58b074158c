"""The judgement of one call: every part of it is held against the rules.

A `Subject` and a `Policy` come in, an `Assessment` goes out. A shell call must be allowed in each
of its commands. It imports rules, matching and what lies below them.
"""
