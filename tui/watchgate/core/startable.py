"""Finds commands that no process could be started with, when the configuration is read."""

from __future__ import annotations

from watchgate.core.config_handlers import HandlerConfig


def fault(config: HandlerConfig) -> tuple[str, str] | None:
    """The key that no process can be started with, and why; None when there is none."""
    if not config.command[0]:
        return "command", "command names no program: its first text is empty"
    for at, argument in enumerate(config.command):
        if "\0" in argument:
            return "command", f"command[{at}] holds a NUL character, which no argument can"
    for name, value in config.env.items():
        if not name:
            return "env", "env has a variable without a name"
        if "=" in name or "\0" in name:
            return "env", f"env names {name!r}, and a name can hold neither = nor a NUL character"
        if "\0" in value:
            return "env", f"env.{name} holds a NUL character, which no variable can"
    if "\0" in (config.cwd or ""):
        return "cwd", "cwd holds a NUL character, which no folder's name can"
    return None
