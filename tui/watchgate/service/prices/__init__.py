"""What calls cost: the table of prices, one of the user's own, and newer ones."""
