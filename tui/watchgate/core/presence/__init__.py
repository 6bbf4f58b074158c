"""Proof of a person behind a decision: which kinds there are, and what each is good for."""
