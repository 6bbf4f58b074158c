"""What hook commands and extensions answer, in each protocol, and what they are told."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from tests.fuzz.of_frames import NOW
from tests.fuzz.target import Target, demand
from watchgate.core.dispatch.extensions import extension_hooks, extension_rpc, extension_spec
from watchgate.core.dispatch.extensions.extension_memory import RECORDS_LIMIT, ExtensionMemory
from watchgate.core.dispatch.extensions.extension_spec import ExtensionError
from watchgate.core.dispatch.hooks import codewhale_hooks, sandbox_hooks
from watchgate.core.dispatch.hooks.hook_exchange import HookExit, HookProtocol
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.model.events import Event, Lane, Text, Tool, ToolCall
from watchgate.core.model.verdicts import Allow, Modify
from watchgate.service.runners.child import HeadTail, head_and_tail

_TOOL = Tool(name="Bash", native_name="bash", cls="shell", input={"command": "ls"}, input_hash="h")


def _event(kind: Any, body: ToolCall | Text) -> Event:
    return Event(
        kind=kind, native=kind, agent="a", session="s", lane=Lane.GATE, at=NOW, body=body, cwd="/w"
    )


_EVENTS = (
    _event("tool.pre", ToolCall(_TOOL)),
    _event("tool.permission", ToolCall(_TOOL)),
    _event("prompt.submit", Text("hi")),
    _event("turn.end", Text("")),
)
_EXITS = (0, 1, 2, 3, 137, None)
_WORDS = (
    b"allow",
    b"continue",
    b"approve",
    b"pass",
    b"proceed",
    b"modify",
    b"true",
    b"input",
    b"Input",
)


def _ended(data: bytes, exit_code: int | None) -> HookExit:
    return HookExit(
        exit_code=exit_code,
        signal="" if exit_code is not None else "SIGKILL",
        stdout=data,
        stderr=data[:64],
        stdout_size=len(data),
        stderr_size=len(data[:64]),
    )


def answer(name: str, data: bytes) -> None:
    """Whatever a command wrote is a verdict, and nothing allows that does not say so."""
    protocol: HookProtocol = PROTOCOLS[name]  # type: ignore[index]  # a name of the table itself
    for event in _EVENTS:
        for exit_code in _EXITS:
            verdict = protocol.report(_ended(data, exit_code), event).verdict
            if not isinstance(verdict, Allow | Modify) or not protocol.reads_output:
                continue
            if protocol.means(exit_code or 0, event.kind) == "proceed":
                continue
            escaped = b"\\u" in data
            demand(escaped or any(word in data for word in _WORDS), "only an allow is one")
        codewhale_hooks.reason_in(data.decode("utf-8", "replace"))


def told(data: bytes) -> None:
    """An event of any content as each protocol tells it to its command."""
    try:
        given = msgspec.json.decode(data, type=dict[str, Any])
    except (UnicodeDecodeError, RecursionError) as fault:
        raise msgspec.DecodeError(str(fault)) from None
    tool = msgspec.structs.replace(_TOOL, input=given)
    text = data.decode()
    for protocol in PROTOCOLS.values():
        for event in (_event("tool.pre", ToolCall(tool)), _event("prompt.submit", Text(text))):
            if event.kind not in protocol.events:
                continue
            try:
                exchange = protocol.exchange(event, "h")
            except ValueError:
                continue
            demand(all("\0" not in each for each in exchange.env.values()), "fit to be passed")


def extension_answer(data: bytes) -> None:
    """The body of an extension's message: an answer becomes a verdict, a request an answer."""
    found = extension_rpc.read_message(data)
    if isinstance(found, extension_rpc.PeerResponse):
        verdict = extension_hooks.read_verdict(found.result, "e")
        said = found.result if isinstance(found.result, dict) else {}
        demand(not isinstance(verdict, Allow) or said.get("action") == "continue", "as it said")
    if isinstance(found, extension_rpc.PeerRequest):
        memory = ExtensionMemory(frozenset(("memory.read", "memory.write")))
        for _ in range(3):
            result = memory.answer(found.method, found.params)
        demand(len(memory._records) <= RECORDS_LIMIT, "a memory is bounded")
        extension_rpc.encode_answer(found.id, result)


def extension_manifest(data: bytes) -> None:
    """An extension's manifest; what passes names hooks that exist."""
    found = extension_spec.read_manifest(data, "m.json")
    demand(found.hooks and found.command.strip(), "it can be started and wants to see something")


def sandbox_session_hooks(data: bytes) -> None:
    """The hooks of a sandbox's session."""
    sandbox_hooks.sandbox_handlers(data)


def output(data: bytes) -> None:
    """A child's output is kept at both ends and shown in so many characters."""
    kept = HeadTail(64)
    for at in range(0, len(data), 7):
        kept.add(data[at : at + 7])
        demand(len(kept._head) + len(kept._tail) <= 200, "no more is kept")
    demand(kept.size == len(data) and len(kept.content()) <= 64, "all is counted")
    text = head_and_tail(kept.content(), kept.size, 200)
    demand(len(text) <= 200 + 40, "no more is shown")


HOOKS = {
    **{
        f"hook-{name}": Target(
            feed=partial(answer, name),
            seeds=(
                b'{"decision":"allow"}',
                b'{"decision":"deny","reason":"no"}',
                (
                    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
                    b'"permissionDecisionReason":"r","updatedInput":{"command":"ls"}}}'
                ),
                b'{"decision":"modify","content":{"command":"ls"}}',
                b'{"decision":"proceed"}',
                b'{"action":"modify","input":{"command":"ls"},"verdict":"block","message":"m"}',
            ),
        )
        for name in PROTOCOLS
    },
    "hook-told": Target(
        feed=told,
        refusals=(msgspec.DecodeError,),
        seeds=(b'{"command":"ls","x":[1,null,"a"]}', b'{"command":["ls","-l"]}'),
    ),
    "extension-answer": Target(
        feed=extension_answer,
        refusals=(extension_rpc.RpcError,),
        seeds=(
            b'{"jsonrpc":"2.0","id":1,"result":{"action":"block","reason":"r"}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"action":"modify","input":{"a":1}}}',
            b'{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}',
            b'{"jsonrpc":"2.0","id":3,"method":"memory.append","params":{"content":"c"}}',
            b'{"jsonrpc":"2.0","id":4,"method":"memory.query","params":{"contains":"c"}}',
        ),
    ),
    "extension-manifest": Target(
        feed=extension_manifest,
        refusals=(ExtensionError,),
        seeds=(
            (
                b'{"command":"./run","hooks":[{"hook":"before_tool_call","tool":"bash"}],'
                b'"permissions":["tools.intercept"],"config":[{"key":"k","default":1}]}'
            ),
        ),
    ),
    "sandbox-hooks": Target(
        feed=sandbox_session_hooks,
        found=(b'{"hooks":"\xff"}', b"[" * 5_000),
        refusals=(msgspec.DecodeError,),
        seeds=(b'{"hooks":{"onSessionStart":[{"command":"true","timeoutSecs":3}]}}',),
    ),
    "output": Target(feed=output, seeds=(b"all of it", b"x" * 300, "é".encode() * 100)),
}
