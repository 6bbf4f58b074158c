"""The way from a key to a decision: when a key acts, what it would do, and what is sent.

Keys and drawn requests come in, control requests and words about their consequences go out. It
imports keys, source and base.
"""
