"""The hash chain of the journal: what shows that it was changed, and what may have left it.

Rows and checkpoints come in, a `Verification` of them goes out; `chain_walk` decides which records
have to leave. It imports secrets, model and base.
"""
