"""Usage from files: finds them, follows them, and prices their calls."""
