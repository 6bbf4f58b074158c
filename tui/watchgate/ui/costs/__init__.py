"""Money in words and rows, for the Costs screen and the strip."""
