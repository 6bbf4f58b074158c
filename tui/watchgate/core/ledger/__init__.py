"""Usage and money, counted once and exactly: calls of models, their prices, their sums."""
