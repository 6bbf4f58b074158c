"""What holds for all hook protocols, whatever a command does."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.builders import batch, other, permission, post, pre, shell
from tests.core.dispatch.hooks.runs import ended, verdict
from watchgate.core.dispatch.handler_config import HandlerConfig
from watchgate.core.dispatch.hooks.hook_exchange import ExitMap, HookExit, HookProtocol
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import PRESETS, DispatchPolicy, ProtocolName
from watchgate.core.model.events import Event, Kind, Text
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Failed,
    Inject,
    Modify,
    Report,
)

EVENTS = [pre(), permission(), post(), post(ok=False), batch(shell()), other("prompt.submit")]
EVENTS += [other("turn.end"), other("session.start"), other("notice")]
NAMES = sorted(PROTOCOLS)
HEARD = [name for name in NAMES if PROTOCOLS[name].reads_output]
TOLD_ALL = [name for name in HEARD if name != "sandbox-env"]
"""The protocols that tell everything on stdin."""

SAYS_SOMETHING = (Allow, Modify, Confirm, Inject, Abort)

WORDS = st.sampled_from(
    "proceed allow approve block deny ask modify inject abort defer maybe".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "decision reason message content input text updatedInput additionalContext system_message env"
    " continue stopReason hookSpecificOutput".split()
)
SPECIFIC = st.fixed_dictionaries(
    {"hookEventName": st.sampled_from(["PreToolUse", "PermissionRequest"])},
    optional={
        "permissionDecision": WORDS,
        "permissionDecisionReason": JSON,
        "updatedInput": JSON,
        "decision": st.dictionaries(
            st.sampled_from(["behavior", "message", "interrupt", "updatedInput"]), JSON | WORDS
        ),
    },
)
ANSWERS = st.dictionaries(KEYS, JSON | WORDS | SPECIFIC, max_size=5).map(msgspec.json.encode)
OUTPUTS = st.binary(max_size=200) | ANSWERS | JSON.map(msgspec.json.encode)
EXITS = st.sampled_from([0, 1, 2, 3, 127, 255]) | st.integers(-300, 300)


@st.composite
def runs(draw: st.DrawFn) -> HookExit:
    """Any way a command can end."""
    stdout = draw(OUTPUTS)
    stderr = draw(st.binary(max_size=50))
    cut = draw(st.sampled_from([0, 0, 0, 1, 1 << 40]))
    exit_code = draw(EXITS | st.none())
    signal = draw(st.sampled_from(["", "SIGKILL"]))
    return HookExit(exit_code, signal, stdout, stderr, len(stdout) + cut, len(stderr))


@pytest.mark.parametrize("name", NAMES)
@given(run=runs(), event=st.sampled_from(EVENTS))
@example(run=ended("[" * 100_000), event=pre())
@example(run=ended('{"decision":"modify","content":"' + "[" * 100_000 + '"}'), event=pre())
@example(run=ended('{"updatedInput":{"a":' + "[" * 900 + "]" * 900 + "}}"), event=pre())
@example(run=ended('{"decision":"allow","input":{"n":1e999}}'), event=pre())
@example(run=ended(b'{"decision":"block","reason":"\xed\xa0\x80"}', 2, b"\xff"), event=pre())
def test_nothing_that_a_command_does_raises(
    name: ProtocolName, run: HookExit, event: Event
) -> None:
    PROTOCOLS[name].report(run, event)


@pytest.mark.parametrize("name", HEARD)
@given(run=runs(), event=st.sampled_from(EVENTS))
def test_only_a_whole_and_well_formed_answer_says_anything_but_no(
    name: ProtocolName, run: HookExit, event: Event
) -> None:
    protocol = PROTOCOLS[name]
    said = protocol.report(run, event).verdict
    if not isinstance(said, SAYS_SOMETHING):
        return
    assert run.exit_code is not None
    means = protocol.means(run.exit_code, event.kind)
    if means == "inject":
        assert isinstance(said, Inject)
        return
    assert means in ("parse", "answer")
    assert run.stdout_size == len(run.stdout)
    assert isinstance(msgspec.json.decode(run.stdout), dict)


@pytest.mark.parametrize("name", HEARD)
@given(stdout=OUTPUTS, event=st.sampled_from([pre(), permission()]))
def test_an_allow_is_only_ever_the_word_of_the_protocol(
    name: ProtocolName, stdout: bytes, event: Event
) -> None:
    said = verdict(name, ended(stdout), event)
    if not isinstance(said, Allow):
        return
    answer = msgspec.json.decode(stdout)
    word = answer.get("decision")
    if name == "codex":
        word = answer["hookSpecificOutput"]["decision"]["behavior"]
    assert word == ("proceed" if name.startswith("codex-fork") else "allow")


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(max_size=50), kind=st.sampled_from(get_args(Kind)))
def test_any_event_can_be_told_to_a_process(name: ProtocolName, text: str, kind: Kind) -> None:
    event = Event(
        kind=kind,
        native=text,
        agent="claude",
        session=text,
        lane=pre().lane,
        at=pre().at,
        body=Text(text),
        cwd=text,
        mode=text,
    )
    given_ = PROTOCOLS[name].exchange(event, "guard")
    for key, value in given_.env.items():
        assert "\0" not in key + value
        assert len(value.encode()) <= 16_384
    assert given_.stdin is None or isinstance(msgspec.json.decode(given_.stdin), dict)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sandbox-env"])
def test_an_event_that_json_cannot_carry_is_refused(name: ProtocolName) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        PROTOCOLS[name].exchange(other("prompt.submit", session="\ud800"), "guard")


@pytest.mark.parametrize("name", TOLD_ALL)
def test_an_input_too_deep_for_json_is_refused(name: ProtocolName) -> None:
    deep: list[object] = []
    for _ in range(300_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        PROTOCOLS[name].exchange(pre(shell(deep=deep)), "guard")


def test_an_answer_that_is_too_deep_to_be_read_is_a_failure() -> None:
    def read(stdout: str, event: Event) -> Report:
        raise RecursionError

    protocol = msgspec.structs.replace(PROTOCOLS["console"], read=read)
    said = protocol.report(ended("{}"), pre()).verdict
    assert said == Failed("parse", "its stdout is nested too deeply")


@pytest.mark.parametrize("name", HEARD)
def test_a_death_by_signal_is_a_crash_with_its_name(name: ProtocolName) -> None:
    run = ended({"decision": "allow"}, None, signal="SIGSEGV")
    assert verdict(name, run) == Failed("crash", "killed by SIGSEGV")


@pytest.mark.parametrize("name", TOLD_ALL)
def test_a_cut_answer_is_no_answer(name: ProtocolName) -> None:
    said = verdict(name, ended({"decision": "allow"}, stdout_size=1 << 30))
    assert isinstance(said, Failed)
    assert said.cause == "oversized"


@pytest.mark.parametrize(
    ("name", "failing", "two"),
    [
        ("console", Failed, Block),
        ("codex-fork-v1", Block, Block),
        ("codex-fork-v2", Failed, Block),
        ("codex", Failed, Block),
        ("codex-notify", Allow, Allow),
        ("sandbox-env", Failed, Failed),
        ("codewhale", Failed, Block),
    ],
)
def test_cx_b6_what_an_exit_code_means_is_data_of_each_protocol(
    name: ProtocolName, failing: type, two: type
) -> None:
    assert isinstance(verdict(name, ended(exit_code=1, stderr="x")), failing)
    assert isinstance(verdict(name, ended(exit_code=2, stderr="x")), two)
    assert all("other" in exits for exits in _maps(PROTOCOLS[name]))


@pytest.mark.parametrize("name", TOLD_ALL)
def test_cx_b12_the_payload_travels_on_stdin_and_never_in_arguments(name: ProtocolName) -> None:
    secret = "x" * 200_000
    given_ = PROTOCOLS[name].exchange(pre(shell(f"echo {secret}")), "guard")
    assert given_.argv == ()
    assert given_.stdin is not None
    assert secret in given_.stdin.decode()
    assert all(secret not in value for value in given_.env.values())


@pytest.mark.parametrize("name", ["codex-fork-v1", "codex-fork-v2", "codex", "codewhale"])
def test_cx_b13_a_call_that_failed_is_told_too(name: ProtocolName) -> None:
    assert {"tool.post", "tool.error"} <= PROTOCOLS[name].events.keys()


@pytest.mark.parametrize("field", ["timeout", "timeout_ms", "timeoutSecs"])
def test_cx_b16_a_limit_is_named_in_seconds_and_nothing_else_is_taken(field: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        _configured(**{field: 5})


def test_cx_b16_milliseconds_in_a_field_of_seconds_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="<= 3600"):
        _configured(timeout_s=5_000)


def test_cw_b18_a_default_limit_fills_only_what_is_missing() -> None:
    for protocol in PROTOCOLS.values():
        assert protocol.limit_s(None) == protocol.timeout_s > 0
        assert protocol.limit_s(7.5) == 7.5
        assert math.isclose(protocol.limit_s(3_600), 3_600)


@pytest.mark.parametrize("timeout_s", [0, -1, 0.0])
def test_cw_b18_a_limit_of_nothing_is_refused(timeout_s: float) -> None:
    with pytest.raises(msgspec.ValidationError, match="> 0"):
        _configured(timeout_s=timeout_s)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())
def test_a_preset_and_its_protocol_give_a_run_the_same_time(preset: DispatchPolicy) -> None:
    assert PROTOCOLS[preset.protocol].timeout_s == preset.handler_timeout_s


def test_the_documentation_has_the_exit_codes_as_they_are() -> None:
    page = (Path(__file__).parents[4] / "docs" / "handlers.md").read_text()
    table = page[page.index("What an exit code means") : page.index("- **parse**")]
    documented = [row for row in table.splitlines() if row.startswith("| `")]
    assert documented == [row for name in PROTOCOLS for row in _rows(PROTOCOLS[name])]


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_names_the_limits_as_they_are(name: ProtocolName) -> None:
    page = (Path(__file__).parents[4] / "docs" / "handlers.md").read_text()
    (row,) = [row for row in page.splitlines() if re.match(rf"\| `{name}` \|.* s", row)]
    protocol = PROTOCOLS[name]
    floor = f", at least {protocol.timeout_floor_s:g} s" if protocol.timeout_floor_s else ""
    kept = (_size(protocol.stdout_cap_bytes), _size(protocol.stderr_cap_bytes))
    assert row.endswith(f"| {protocol.timeout_s:g} s{floor} | {', '.join(kept)} |")


def _configured(**fields: object) -> HandlerConfig:
    known = {"id": "guard", "on": ["tool.pre"], "command": ["./guard.sh"]}
    return msgspec.convert({**known, **fields}, HandlerConfig)


def _maps(protocol: HookProtocol) -> list[ExitMap]:
    return [protocol.exits, *protocol.exits_at.values()]


def _rows(protocol: HookProtocol) -> list[str]:
    """The rows of the exit-code table that a protocol stands for."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for kind, exits in protocol.exits_at.items():
        groups.setdefault(_cells(exits), []).append(f"`{kind}`")
    named = [(", ".join(kinds), cells) for cells, kinds in groups.items()]
    rest = ("all others" if named else "all", _cells(protocol.exits))
    return [
        f"| `{protocol.name}` | {kinds} | {' | '.join(cells)} |" for kinds, cells in [*named, rest]
    ]


def _cells(exits: ExitMap) -> tuple[str, str, str]:
    other_ = exits["other"]
    return exits.get(0, other_), exits.get(2, other_), other_


def _size(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB" if size_bytes >> 20 else f"{size_bytes >> 10} KiB"
