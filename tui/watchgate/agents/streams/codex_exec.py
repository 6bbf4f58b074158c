"""`codex exec --json`: one object a line, its event named by `type`.

Only the first line names the session, so whatever comes before `thread.started` belongs to a
guessed one. No line names the folder: it is taken to be the tap's own. Wire format: the events of
codex-rs/exec, Codex CLI 0.169; older ones lack fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.streams.codex_items import CLASSES, read_item
from watchgate.agents.streams.fields import Fields, folder, name, rest, table, whole, word
from watchgate.agents.streams.heard import Heard, tool_of
from watchgate.agents.streams.source import Source
from watchgate.core.clock import Instant
from watchgate.core.events import Event, Usage

AGENT: Final = "codex"
_FAMILIES = ("thread.", "turn.", "item.")


def fits(fields: Fields) -> bool:
    """Returns whether a line is one of these events."""
    kind = word(fields, "type")
    return kind in _EVENTS or kind.startswith(_FAMILIES)


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    native = name(fields, "type")
    if native == "thread.started":
        source.session = name(fields, "thread_id")
    line = Heard(source, at, agent=AGENT, session=source.session)
    line.session.turn = str(line.session.turns + 1)
    line.session.cwd = source.cwd
    line.session.ends = bool(source.agent)  # a tap copies the run's own output to its end
    line.session.numbering = "exec"  # the hooks of the same session have other ids
    step = _EVENTS.get(native)
    if step is not None:
        step(line, native, fields)
    elif native.startswith("item."):
        read_item(line, native, table(fields, "item"))
    else:
        line.add_text("notice", native, rest(fields, ("type",)))
    return line.events


def _thread(line: Heard, native: str, _fields: Fields) -> None:
    line.session.turn = None
    line.add_change("session.start", native, "started")


def _turn(line: Heard, native: str, _fields: Fields) -> None:
    line.add_text("model.request", native)


def _turn_done(line: Heard, native: str, fields: Fields) -> None:
    used = table(fields, "usage")
    if used:
        usage = Usage(
            input=whole(used, "input_tokens"),
            output=whole(used, "output_tokens"),
            cache_read=whole(used, "cached_input_tokens"),
            cache_write=whole(used, "cache_write_input_tokens"),
            reasoning=whole(used, "reasoning_output_tokens"),
            counts="total",
            cached_within=True,
        )
        line.add("usage", f"{native}/usage", usage)
    line.add_text("turn.end", native)
    line.session.end_turn()


def _turn_failed(line: Heard, native: str, fields: Fields) -> None:
    line.add_text("turn.error", native, word(table(fields, "error"), "message"))
    line.session.end_turn()


def _error(line: Heard, native: str, fields: Fields) -> None:
    line.add_text("notice", native, word(fields, "message"))


def _asks(line: Heard, native: str, fields: Fields) -> None:
    """Adds an approval request of codex_cli_sdk's stream, for a command or for a patch."""
    args: dict[str, Any] = {key: fields[key] for key in ("command", "changes") if key in fields}
    call_id = name(fields, "call_id")
    tool = tool_of(_ASKED[native], args, call_id or None, CLASSES)
    line.ask_permission(
        native, name(fields, "approval_id") or call_id, tool, cwd=folder(fields, "cwd")
    )


_ASKED: Final = {
    "exec_approval_request": "command_execution",
    "apply_patch_approval_request": "file_change",
}
_EVENTS: Final[dict[str, Callable[[Heard, str, Fields], None]]] = {
    "thread.started": _thread,
    "turn.started": _turn,
    "turn.completed": _turn_done,
    "turn.failed": _turn_failed,
    "error": _error,
    "exec_approval_request": _asks,
    "apply_patch_approval_request": _asks,
}
