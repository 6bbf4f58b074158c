"""The core: everything that decides, records and folds, without a clock, a file or a loop.

Time, ids and randomness are arguments, so a recorded run decides the same anywhere. The rooms stand
on floors (`[tool.importlinter]` in pyproject.toml); docs/architecture.md shows them.
"""
