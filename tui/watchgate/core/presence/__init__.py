"""Proof of a person behind a decision: which kinds there are, and what each is good for.

The standing of a client comes in, what it may decide goes out. A security key's signature is
checked here, within the core: an agent of the same user could trace a program that was started for
it. It imports secrets, model and base.
"""
