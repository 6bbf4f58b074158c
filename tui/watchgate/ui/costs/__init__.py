"""Money in words and rows, for the Costs screen and the strip.

Usage and budgets come in, rows and words go out. It imports base.
"""
