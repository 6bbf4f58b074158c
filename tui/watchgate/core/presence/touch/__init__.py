"""A security key's public half, and its signature as `ssh-keygen -Y sign` writes it.

It is checked within the core: a program that the core started for it could be traced, or its files
be swapped, by an agent of the same user.
"""
