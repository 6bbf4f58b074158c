"""Commands for other programs: `stdio`, `schema`, `completion`.

Arguments come in, lines for a program go out. It imports base, and the rest when a command runs.
"""
