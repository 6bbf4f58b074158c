"""The ground: time as a value, ids, safe text, amounts, bounded collections, decoding.

Plain values come in, plain values go out. It knows nothing of agents, calls or records, and imports
no other room.
"""
