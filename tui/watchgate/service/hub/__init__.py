"""The hub: events of agents come in, effects of the engine and answers go out.

It imports system, identity, wire, journal, runners, sinks, search and admission.
"""
