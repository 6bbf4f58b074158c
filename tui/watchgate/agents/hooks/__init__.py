"""What agents with hooks have in common."""
