"""Reads the transcripts on this disk, and writes nothing: no state, no cache, no socket."""
