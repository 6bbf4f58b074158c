"""The hash chain of the journal: what shows that it was changed, and what may have left it.

Rows and checkpoints come in, a verdict on them goes out; `removals` decides which records have to
leave. It imports presence, policy, secrets and model, and what lies below them.
"""
