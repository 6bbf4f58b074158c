"""What sessions have used and cost: folded from what is told and counted of them."""
