"""The hook protocols: what a hook command is given, and what its answer means."""
