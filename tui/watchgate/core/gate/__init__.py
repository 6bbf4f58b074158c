"""The gate: from an event to its end, with every request, grant and denial on the way.

Events, reports, decisions and time come in; records, orders and answers go out. `engine` says how
the parts play together. It imports state, config, policy, dispatch and what lies below them.
"""
