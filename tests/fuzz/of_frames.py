"""The framings: hook frames, lines, length headers, server-sent events, each cut anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fuzz.target import Target, demand
from watchgate.agents.base import DecodeError
from watchgate.agents.registry import ADAPTERS
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.extensions import extension_frames, extension_rpc
from watchgate.core.model.events import Event
from watchgate.link.control_lines import CoreLost, LineReader
from watchgate.service.bridges.opencode_server import EventStream, EventStreamError
from watchgate.service.hub.hook_frames import HookFrame, decode_frame, unread_frame
from watchgate.service.hub.loop_budget import Batcher
from watchgate.service.system.line_cutting import LineCutter, LineSplitter
from watchgate.service.wire.framing import HookFrameError, parse_head

NOW = Instant(1_795_000_000_000_000, 12.5)
LIMIT_BYTES = 64
_CUTS = (1, 2, 3, 7, 61)

Collected = tuple[list[Any], str]
"""What came of a stream: its parts, and the word for how it ended."""


def hook_frame(data: bytes) -> None:
    """A frame from its first byte to the event that it means."""
    header, _, payload = data.partition(b"\n\n")
    head = parse_head(header)
    frame = HookFrame(head, payload[: head.length], 7, NOW)
    try:
        event = decode_frame(frame, ADAPTERS)
    except DecodeError as fault:
        kept = unread_frame(head, payload, 7, str(fault), NOW, ADAPTERS)
        demand(not kept.lane.waits, "what cannot be read asks for nothing")
        raise
    demand(event.lane is head.lane, "an event comes on the lane of its frame")
    demand(event.can.deny or head.lane not in ("gate", "gate-read"), "a gated event can be denied")


def same_however_cut(data: bytes, collect: Callable[[list[bytes]], Collected]) -> None:
    """Demand that the pieces in which bytes come change nothing."""
    whole = collect([data])
    for size in _CUTS:
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        demand(collect(pieces) == whole, f"the same in pieces of {size} bytes")


def _split(pieces: list[bytes]) -> Collected:
    splitter, whole, dropped = LineSplitter(1 << 20), b"", 0
    for piece in pieces:
        lines, lost = splitter.feed(piece)
        whole += lines
        dropped += lost
    return [whole, splitter.rest()], str(dropped)


def splitter(data: bytes) -> None:
    """Nothing is lost or added, a line over the limit goes whole, and no more is kept than that."""
    same_however_cut(data, _split)
    small, whole, dropped = LineSplitter(LIMIT_BYTES), b"", 0
    for at in range(len(data)):
        lines, lost = small.feed(data[at : at + 1])
        whole, dropped = whole + lines, dropped + lost
        demand(len(small.rest()) <= LIMIT_BYTES, "no more is kept than one line may have")
    taken = [line for line in data.split(b"\n")[:-1] if len(line) <= LIMIT_BYTES]
    demand(whole == b"".join(line + b"\n" for line in taken), "every line that fits is told")


def _pieces(pieces: list[bytes]) -> Collected:
    lines = LineCutter(1 << 20)
    found = [each for piece in pieces for each in lines.feed(piece)]
    return [each.data for each in (*found, *lines.rest())], ""


def proxied_lines(data: bytes) -> None:
    """What a proxy passes on is every byte that came, in its order."""
    same_however_cut(data, _pieces)
    small = LineCutter(LIMIT_BYTES)
    found = [each for at in range(len(data)) for each in small.feed(data[at : at + 1])]
    found += small.rest()
    demand(b"".join(each.data for each in found) == data, "no byte is lost, added or moved")
    demand(all(len(each.data) <= LIMIT_BYTES + 1 for each in found), "pieces stay small")


def _extension_frames(pieces: list[bytes]) -> Collected:
    frames, found = extension_frames.FrameReader(), []
    try:
        for piece in pieces:
            for body in frames.feed(piece):
                found.append(body)  # noqa: PERF402 - those before a fault count too
    except extension_frames.ExtensionFrameError as fault:
        return found, fault.cause
    return found, ""


def frames_of_extensions(data: bytes) -> None:
    """The frames of an extension and the messages in them; a body that is framed comes back."""
    same_however_cut(data, _extension_frames)
    bodies, _ = _extension_frames([data])
    for body in (*bodies, data):
        demand(
            _extension_frames([extension_frames.encode_frame(body)]) == ([body], ""),
            "framed is read back",
        )
    for body in (*bodies, data):
        try:
            extension_rpc.read_message(body)
        except extension_rpc.RpcError:
            continue


def _server_events(pieces: list[bytes]) -> Collected:
    stream = EventStream()
    return [data for piece in pieces for data in stream.feed(piece)], ""


def server_events(data: bytes) -> None:
    """Server-sent events, and an event that is too long."""
    # A carriage return that ends the bytes may be half of a line's end: what follows tells.
    same_however_cut(data + b"\n", _server_events)
    small = EventStream(LIMIT_BYTES)
    for at in range(len(data)):
        small.feed(data[at : at + 1])


def _core_lines(pieces: list[bytes]) -> Collected:
    reader = LineReader()
    found: list[Any] = []
    try:
        greeted = False
        for piece in pieces:
            if not greeted:
                hello = reader.hello(piece)
                greeted = hello is not None
                found.append(hello) if greeted else None
                piece = b""  # noqa: PLW2901 - what is left of it is told with nothing more
            found += reader.feed(piece) if greeted else []
    except CoreLost:
        return [], "lost"
    return found, ""


def core_lines(data: bytes) -> None:
    """What a console reads of a core, from its hello on."""
    same_however_cut(data, _core_lines)
    reader = LineReader()
    if reader.hello(data) is not None:
        reader.feed(b"")


def gathering(data: bytes) -> None:
    """Items leave in the order in which they came, and none is left behind."""
    left: list[Event | int] = []
    later: list[Callable[[], None]] = []
    gathered: Batcher[int] = Batcher(left.extend, later.append)
    for number, size in enumerate(data):
        gathered.add(number, size * 4_096)
        if size % 5 == 0:
            while later:
                later.pop()()
    gathered.flush()
    demand(left == list(range(len(data))), "all of them in order")


_HEAD = b"watchgate/1 claude gate\nlength: %d\ndeadline_ms: 60000\nevent: PreToolUse\n"
_CALL = (
    b'{"session_id":"s-1","cwd":"/srv","hook_event_name":"PreToolUse","tool_name":"Bash",'
    b'"tool_input":{"command":"make"},"tool_use_id":"toolu_1"}'
)
_HELLO = b'{"watchgate":"1.0","core":"c-1","boot":1,"seq":2,"profile":"guard"}\n'

FRAMES = {
    "hook-frame": Target(
        feed=hook_frame,
        refusals=(HookFrameError, DecodeError),
        seeds=(
            _HEAD % len(_CALL) + b"env.TMUX_PANE: %3\n\n" + _CALL,
            b"watchgate/1 gemini observe\nlength: 20\nevent: SessionEnd\ndropped: 9\noff: 1\n"
            b"proxy: 1\n\n" + b'{"session_id":"s-1"}',
        ),
    ),
    "splitter": Target(feed=splitter, seeds=(b"one\ntwo\n\nthree", b"x" * 70 + b"\nafter\n")),
    "proxied-lines": Target(
        feed=proxied_lines, seeds=(b"one\ntwo\n\nthree", b"x" * 70 + b"\nafter\n")
    ),
    "extension-frames": Target(
        feed=frames_of_extensions,
        seeds=(
            b'Content-Length: 38\r\n\r\n{"jsonrpc":"2.0","id":1,"result":null}',
            b"X-A: b\r\ncontent-length: 2\r\n\r\n{}Content-Length: 4\r\n\r\nnull",
        ),
    ),
    "server-events": Target(
        feed=server_events,
        refusals=(EventStreamError,),
        seeds=(b'event: m\ndata: {"a":1}\n\n: note\n\n', b"data: a\r\ndata: b\r\rdata:c\n\n"),
    ),
    "core-lines": Target(
        feed=core_lines,
        refusals=(CoreLost,),
        seeds=(
            _HELLO + b'{"id":1,"ok":{"x":[1]}}\n{"id":2,"refused":"bad_request","message":"m"}\n',
            _HELLO + b'{"record":{"v":1,"seq":2,"core":"c","at":3,"kind":"notice"}}\n'
            b'{"gap":[3,9]}\n{"closed":"bye"}\n',
        ),
    ),
    "gathering": Target(feed=gathering, seeds=(b"\x01\x02\x03", b"\xff" * 40, b"\x05" * 9)),
}
