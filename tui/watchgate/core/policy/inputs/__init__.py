"""The inputs of the judge: the call, the place where it runs, and a policy file as data.

It resolves paths by their text and by links that are known, and reads no disk. It imports shell and
code.
"""
