"""Commands on this machine: `install`, `uninstall`, `config`, `guard`, `doctor`, `agent`, and more.

`hook` and `crashtest` are here too. Arguments come in, changed files, text and an exit code go out.
It imports base, the base of the core, machine and presence for what they ask of a person, and the
rest when a command runs.
"""
