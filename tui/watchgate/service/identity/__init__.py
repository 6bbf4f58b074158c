"""Identity at the sockets: the agents, the standing of a client, and the proofs of a person.

A pid comes in, its ancestors, its agent, its standing and its proofs go out. It imports system.
"""
