"""Watches the files that the gate rests on: hook entries, the hook client, the rules."""
