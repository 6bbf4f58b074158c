"""What may run, what must be asked, and why."""
