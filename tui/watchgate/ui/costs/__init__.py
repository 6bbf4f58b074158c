"""What the Costs screen and the strip tell of money."""
