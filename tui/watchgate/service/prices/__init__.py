"""Prices of model calls: a bundled table, one of the user's own, and newer ones.

A model and a moment come in, exact rates go out. It is the one folder that knows genai-prices, and
imports system.
"""
