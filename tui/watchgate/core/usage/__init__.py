"""Usage and cost of sessions: folded from what agents report and what usage files add up to.

In come `usage` and `usage.counted` records, and the model calls that usage files hold. Out come the
usage of each session, its sums by day and by minute, budgets, and what a record or snapshot has to
carry of them. Imports `core.base`, `core.model` and the budgets' section of `core.config`.

The ledger counts usage and money once and exactly: calls of models, their prices, their sums.
"""
