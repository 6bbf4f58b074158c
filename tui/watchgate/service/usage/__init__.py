"""Usage from files: where they lie, how they are followed, what their calls cost."""
