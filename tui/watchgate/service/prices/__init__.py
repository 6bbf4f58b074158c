"""Prices of model calls: a bundled table, one of the user's own, and newer ones."""
