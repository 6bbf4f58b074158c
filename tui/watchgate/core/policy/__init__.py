"""Rules for tool calls: which may run, which must be asked about, which are denied, and why.

In comes a call (`Subject`) and the policy files; out comes an `Assessment`. Nothing here reads a
disk, a clock or a network.
"""
