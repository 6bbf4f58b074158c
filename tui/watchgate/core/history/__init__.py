"""Recorded calls as rows: the outcome of each, who decided it, and its first and last record.

Records come in, `HistoryRow`s go out. It imports state and model.
"""
