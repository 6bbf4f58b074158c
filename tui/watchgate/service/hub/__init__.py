"""The hub: events of agents come in; effects of the engine, and answers, go out.

It wires the engine to connections, the journal and the consoles. It imports admission, identity,
journal, runners, sinks, wire and system.
"""
