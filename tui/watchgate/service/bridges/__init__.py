"""Proxies, taps and tools that run beside a core and reach it by the ingest socket.

Messages of an agent pass through; observations and questions go to the core. They import wire and
system, and hold no part of a core.
"""
