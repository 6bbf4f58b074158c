"""`allow --command`: another command in the place of the one that an agent asks about."""

from __future__ import annotations

from typing import Any

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import say
from watchgate.cli.request_page import print_request
from watchgate.cli.typed import needs_terminal, typed
from watchgate.link.protocol import Request


def edited_input(request: str, command: str) -> dict[str, Any]:
    """The input of a request with another command; ends the command where it has none."""
    import msgspec

    from watchgate.core.edited_text import edited
    from watchgate.core.events import Tool

    found = ask(Request(id=1, verb="show", request=request))["request"]
    tool = msgspec.convert(found["tool"], Tool)
    if tool.cls != "shell":
        raise Stop(f"{tool.name} runs no command; edit it in the console", Exit.USAGE)
    try:
        return edited(tool, command)
    except ValueError as fault:
        raise Stop(f"--command: {fault}", Exit.USAGE) from None


def edited_by_a_person(request: str, given: dict[str, Any]) -> str:
    """Show what a request would become and have that allowed by a typed word; its digest."""
    needs_terminal("allow needs --digest (see watchgate show ID) or a terminal to ask on")
    shown = ask(Request(id=1, verb="show", request=request))["request"]
    becomes = ask(Request(id=1, verb="preview", request=request, input=given))
    print_request({**shown, **becomes, "tool": {**shown["tool"], "input": becomes["input"]}})
    say()
    if typed("Type yes to let the edited call run, anything else to leave it waiting: ") != "yes":
        raise Stop("nothing was decided; the request still waits")
    digest: str = becomes["digest"]
    return digest
