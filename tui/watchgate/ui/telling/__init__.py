"""What is told to whoever looks elsewhere."""
