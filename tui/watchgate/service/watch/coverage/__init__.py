"""Compares what ran with what passed the gate.

Transcripts, databases and processes of agents come in, records of ungated calls go out.
"""
