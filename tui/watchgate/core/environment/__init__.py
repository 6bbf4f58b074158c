"""Variables of an environment that can keep the hooks in it from running."""
