"""The formats of the ingest socket: hook frames, JSON lines and their senders; the adapters.

Bytes come in, events and answer bytes go out. It imports system.
"""
