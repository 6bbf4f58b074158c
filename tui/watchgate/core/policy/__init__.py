"""Rules for tool calls: which may run, which must be asked about, which are denied, and why.

A call (`Subject`) and policy files come in, an `Assessment` goes out. Nothing here reads a disk, a
clock or a network. It imports tools, secrets, model and base.
"""
