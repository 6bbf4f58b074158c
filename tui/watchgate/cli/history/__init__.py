"""Commands on what was recorded: `tail`, `search`, `replay`, `export`, `audit`, `purge`.

Arguments come in, text and an exit code go out. It imports base and the base of the core, and
the rest when a command runs, with console for a replay.
"""
