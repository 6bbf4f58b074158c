"""The control socket: its clients, and the verbs that they may ask; a refusal changes nothing.

Lines of requests come in, results and new records go out. It imports hub, history, policies,
runners and what lies below them.
"""
