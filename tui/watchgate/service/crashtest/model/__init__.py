"""A model on loopback that plays a script over the wires that agents speak.

A script and an agent's requests come in, scripted replies go out. The model keeps no state: the
agent sends its history along. It imports nothing else of watchgate.
"""
