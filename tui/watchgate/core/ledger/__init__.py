"""The ledger counts usage and money once and exactly: calls of models, their prices, their sums."""
