"""What this process asks of the system for itself."""
