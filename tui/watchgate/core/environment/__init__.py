"""What an environment can do to the hooks that run in it."""
