"""Proof of a person behind a decision: which kinds there are, and what each is good for.

A security key's public half, and its signature as `ssh-keygen -Y sign` writes it.

It is checked within the core: a program that the core started for it could be traced, or its files
be swapped, by an agent of the same user.
"""
