"""What an agent and its client say to each other through us, line by line."""
