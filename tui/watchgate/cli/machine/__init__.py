"""Commands on the core: `serve`, `status`, `stop`, `off`, `on`, `service`.

Arguments come in, text and an exit code go out. It imports base, and the rest when a command runs.
"""
