"""Settings of this process that it asks of the system."""
