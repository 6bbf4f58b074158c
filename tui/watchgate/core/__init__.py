"""Variables of an environment that can keep the hooks in it from running.

Inputs of calls that are too large for the journal to hold them in every record of the call.
"""
