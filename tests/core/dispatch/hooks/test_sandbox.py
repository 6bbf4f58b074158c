"""sandbox-agent's lifecycle hooks and their lists."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

from tests.core.builders import other
from tests.core.dispatch.hooks.runs import ended, env, verdict
from watchgate.core.dispatch.hooks.hook_exchange import HookExit
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.hooks.sandbox_hooks import EVENTS, MESSAGE_BYTES, sandbox_handlers
from watchgate.core.model.events import Event, Kind, Text
from watchgate.core.model.verdicts import Defer, Failed, Verdict

NAME: Final = "sandbox-env"


def message(text: str) -> Event:
    """The start of a message with this text."""
    return msgspec.structs.replace(other("prompt.submit", mode="build"), body=Text(text))


def test_sa_2_an_entry_is_a_shell_line_with_30_s_that_goes_on_after_a_failure() -> None:
    (handler,) = sandbox_handlers(b'{"onSessionStart":[{"command":"./prepare.sh | tee log"}]}')
    assert handler.on == ("session.start",)
    assert handler.command == ("sh", "-c", "./prepare.sh | tee log")
    assert (handler.timeout_s, handler.cwd, handler.continue_on_failure) == (30, None, True)
    assert (handler.protocol, handler.role) == ("sandbox-env", "gate")


def test_sa_2_every_field_of_an_entry_is_acted_on() -> None:
    found = sandbox_handlers(
        b'{"onMessageStart":[{"command":"a"},{"command":"b","timeoutSecs":5,'
        b'"workingDir":"/srv/tools","continueOnFailure":false}],"onMessageEnd":[{"command":"c"}]}'
    )
    assert [(handler.on, handler.command[2]) for handler in found] == [
        (("prompt.submit",), "a"),
        (("prompt.submit",), "b"),
        (("turn.end",), "c"),
    ]
    assert len({handler.id for handler in found}) == 3
    second = found[1]
    assert (second.timeout_s, second.cwd, second.continue_on_failure) == (5, "/srv/tools", False)


def test_sa_2_the_protocols_own_limit_is_30_s() -> None:
    assert PROTOCOLS["sandbox-env"].limit_s(None) == 30.0


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ('{"command":"a","timeout":5}', "unknown field `timeout`"),
        ('{"timeoutSecs":5}', "missing required field `command`"),
        ('{"command":""}', "length >= 1"),
    ],
)
def test_sa_3_the_name_is_timeout_secs_and_timeout_is_refused(entry: str, fault: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=fault):
        sandbox_handlers(f'{{"onSessionEnd":[{entry}]}}'.encode())


@pytest.mark.parametrize(
    ("kind", "hook_type"),
    [
        ("session.start", "session_start"),
        ("session.end", "session_end"),
        ("prompt.submit", "message_start"),
        ("turn.end", "message_end"),
    ],
)
def test_sa_7_a_hook_gets_no_stdin_and_four_variables(kind: Kind, hook_type: str) -> None:
    event = other(kind, mode="build")
    assert PROTOCOLS["sandbox-env"].exchange(event, "guard").stdin is None
    assert (
        env(NAME, event).items()
        >= {
            "SANDBOX_SESSION_ID": "one",
            "SANDBOX_AGENT": "claude",
            "SANDBOX_AGENT_MODE": "build",
            "SANDBOX_HOOK_TYPE": hook_type,
        }.items()
    )


@pytest.mark.parametrize("kind", sorted(EVENTS))
def test_sa_8_only_the_start_of_a_message_carries_its_text(kind: Kind) -> None:
    said = env(NAME, other(kind)).get("SANDBOX_MESSAGE")
    assert said == ("words" if kind == "prompt.submit" else None)


@pytest.mark.parametrize(
    ("run", "means"),
    [
        (ended("any words"), Defer()),
        (ended({"decision": "block"}), Defer()),
        (ended("x", stdout_size=1 << 30), Defer()),
        (ended(exit_code=1, stderr="no disk\n"), Failed("exit", "exited with 1: no disk")),
        (ended(exit_code=2), Failed("exit", "exited with 2")),
        (ended(exit_code=None, signal="SIGTERM"), Failed("crash", "killed by SIGTERM")),
    ],
)
def test_sa_9_success_is_exit_0_and_a_failure_tells_its_code_and_words(
    run: HookExit, means: Verdict
) -> None:
    assert verdict(NAME, run, message("hello")) == means


def test_sa_b5_the_end_of_a_message_is_an_event_of_every_agent() -> None:
    ends = [other("turn.end", agent=agent) for agent in ("codex", "opencode", "claude")]
    assert {env(NAME, event)["SANDBOX_HOOK_TYPE"] for event in ends} == {"message_end"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * (MESSAGE_BYTES + 1), "8193 bytes, more than 8192"),
        ("é" * MESSAGE_BYTES, "16384 bytes, more than 8192"),
        ("a\0b", "contains a NUL byte"),
        ("half a pair \ud800", "not valid Unicode"),
    ],
)
def test_sa_b6_a_message_that_no_variable_can_carry_is_left_out_and_said(
    text: str, why: str
) -> None:
    given = env(NAME, message(text))
    assert "SANDBOX_MESSAGE" not in given
    assert given["SANDBOX_MESSAGE_OMITTED"] == why


def test_sa_b6_a_message_that_fits_is_carried_whole() -> None:
    text = "line\n" + "x" * (MESSAGE_BYTES - 5)
    given = env(NAME, message(text))
    assert given["SANDBOX_MESSAGE"] == text
    assert "SANDBOX_MESSAGE_OMITTED" not in given


def test_sa_b7_a_protocol_adds_its_own_names_and_nothing_of_the_core() -> None:
    assert all(name.startswith("SANDBOX_") for name in env(NAME, message("hello")))
