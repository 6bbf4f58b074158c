"""Recordings, played through the same bridge as what happens now."""
