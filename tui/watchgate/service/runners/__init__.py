"""The processes of handlers: hook commands and extensions, bounded in time, number and output.

A handler's order comes in, exactly one report goes out. It imports system.
"""
