"""Commands that prove a person or a registered program: `pin`, `unlock`, `lock`, `token`.

A PIN or a token is never an argument: it is typed without being shown, or read from a file or
variable of the program's own. It imports base, the protocol of link and the base of the core, and
the rest when a command runs.
"""
