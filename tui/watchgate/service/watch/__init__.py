"""Watchers beside the sockets: what ran, what a held call would touch, the own files.

Records, processes and files come in; records of what was noticed go out. Each folder is one
watcher, and none decides. It imports usage, hub, setup, sinks, runners, policies and system.
"""
