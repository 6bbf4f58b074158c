"""The terminal below the console: how its end is noticed, and does not hold the console up."""
