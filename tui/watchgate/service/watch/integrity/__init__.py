"""Watches the files that the gate rests on: hook entries, the hook client, the rules.

Files come in, records of what changed in them go out.
"""
