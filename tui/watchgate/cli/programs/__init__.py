"""Commands for other programs: `stdio`, `schema`, `completion`."""
