"""Commands on what was recorded: `tail`, `search`, `replay`, `export`, `audit`, `purge`."""
