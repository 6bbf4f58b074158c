"""Watchers beside the sockets: what ran, what a held call would touch, the own files.

Each folder is one watcher; none of them decides. They import usage, hub, setup and what lies below
them.
"""
