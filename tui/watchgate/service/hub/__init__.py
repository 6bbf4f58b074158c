"""The hub: events of agents come in; effects of the engine, and answers, go out.

It wires the engine to connections, the journal and the consoles. It imports identity, wire,
journal, runners, sinks, search, admission and system.
"""
