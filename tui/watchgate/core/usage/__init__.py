"""Usage and cost of sessions: folded from what agents report and what usage files add up to.

Records and the model calls of usage files come in. The usage of each session, its sums by day and
by minute, budgets, and what a record or snapshot has to carry of them go out. The ledger counts
each call of a model once. It imports config, model and base.
"""
