"""The protocols of hook commands: what each is given, and what its answer means.

An event comes in; a command's input goes out, and its exit and output become a verdict.
"""
