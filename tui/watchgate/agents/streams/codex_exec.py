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
    """Whether a line is one of these events."""
    kind = word(fields, "type")
    return kind in _EVENTS or kind.startswith(_FAMILIES)


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """The events of one line."""
    native = name(fields, "type")
    if native == "thread.started":
        source.session = name(fields, "thread_id")
    heard = Heard(source, at, agent=AGENT, session=source.session)
    heard.seen.turn = str(heard.seen.turns + 1)
    heard.seen.cwd = source.cwd
    heard.seen.ends = bool(source.agent)  # a tap copies the run's own output to its end
    heard.seen.numbering = "exec"  # the hooks of the same session have other ids
    step = _EVENTS.get(native)
    if step is not None:
        step(heard, native, fields)
    elif native.startswith("item."):
        read_item(heard, native, table(fields, "item"))
    else:
        heard.words("notice", native, rest(fields, ("type",)))
    return heard.events


def _thread(heard: Heard, native: str, _fields: Fields) -> None:
    heard.seen.turn = None
    heard.changed("session.start", native, "started")


def _turn(heard: Heard, native: str, _fields: Fields) -> None:
    heard.words("model.request", native)


def _turn_done(heard: Heard, native: str, fields: Fields) -> None:
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
        heard.say("usage", f"{native}/usage", usage)
    heard.words("turn.end", native)
    heard.seen.turn_over()


def _turn_failed(heard: Heard, native: str, fields: Fields) -> None:
    heard.words("turn.error", native, word(table(fields, "error"), "message"))
    heard.seen.turn_over()


def _error(heard: Heard, native: str, fields: Fields) -> None:
    heard.words("notice", native, word(fields, "message"))


def _asks(heard: Heard, native: str, fields: Fields) -> None:
    """An approval request of codex_cli_sdk's stream, for a command or for a patch."""
    args: dict[str, Any] = {key: fields[key] for key in ("command", "changes") if key in fields}
    call_id = name(fields, "call_id")
    tool = tool_of(_ASKED[native], args, call_id or None, CLASSES)
    heard.ask(native, name(fields, "approval_id") or call_id, tool, cwd=folder(fields, "cwd"))


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
