"""The legacy `notify` program: told by its last argument, never heard, never in the way."""

from __future__ import annotations

import json
from typing import Final

import msgspec
import pytest

from tests.core.builders import other
from tests.core.dispatch.hooks.runs import ended, env, verdict
from watchgate.core.dispatch.hooks.codex_fork import ARGUMENT_CAP_BYTES
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.model.events import Event, Kind, Text
from watchgate.core.model.verdicts import Allow, Verdict

NAME: Final = "codex-notify"


def said(text: str, kind: Kind = "turn.end") -> Event:
    event = other(kind, turn="12345")
    return msgspec.structs.replace(event, body=Text(text))


def argument(event: Event) -> str:
    exchange = PROTOCOLS[NAME].exchange(event, "notify")
    assert exchange.stdin is None
    (last,) = exchange.argv
    return last


def test_cx_30_the_event_is_the_last_argument_in_kebab_case() -> None:
    assert json.loads(argument(said("words"))) == {
        "type": "agent-turn-complete",
        "thread-id": "one",
        "turn-id": "12345",
        "cwd": "/home/u/app",
        "client": "claude",
        "input-messages": [],
        "last-assistant-message": "words",
    }
    assert env(NAME, said("words")) == {}


def test_a_turn_without_a_message_has_none() -> None:
    assert json.loads(argument(said("")))["last-assistant-message"] is None


def test_another_event_is_no_turn_that_was_completed() -> None:
    told = json.loads(argument(said("push it", "prompt.submit")))
    assert (told["type"], told["last-assistant-message"]) == ("prompt-submit", None)


@pytest.mark.parametrize(
    ("exit_code", "signal", "means"),
    [
        (0, "", Allow()),
        (2, "", Allow("exited with 2")),
        (None, "SIGKILL", Allow("killed by SIGKILL")),
    ],
)
def test_cx_30_however_it_ends_it_proceeds(
    exit_code: int | None, signal: str, means: Verdict
) -> None:
    assert verdict(NAME, ended("block", exit_code, "no", signal=signal), said("")) == means


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "\0" * 100_000, "\U0001f600" * 100_000],
    ids=["long", "escaped", "beyond ASCII"],
)
def test_cx_b12_a_long_message_is_cut_so_that_it_fits_an_argument(text: str) -> None:
    told = argument(said(text))
    assert len(told.encode()) <= ARGUMENT_CAP_BYTES
    kept = json.loads(told)["last-assistant-message"]
    assert kept
    assert text.startswith(kept)
