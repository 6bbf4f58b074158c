"""A refused attempt: counted, told at few of its counts, and an alarm where no person can be."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from watchgate.core.model.actor import Actor, ProcessLink
from watchgate.core.model.records import Record
from watchgate.core.presence.attempts import (
    ALARM,
    ALARM_AFTER,
    FORGOTTEN_S,
    MAX_KINDS,
    AttemptData,
    Attempts,
    doing,
    sentence,
    who,
)
from watchgate.core.state.state import State
from watchgate.link.protocol import Verb

A = (40, "400")


def counted(attempts: Attempts, times: int, *, standing: str = "locked", **more: Any) -> list[int]:
    """The counts of so many equal attempts that are recorded."""
    told = (
        attempts.refused(A, ("off", "", ""), standing, now_s=0.0, **{"console": False, **more})
        for _ in range(times)
    )
    return [each.count for each in told if each is not None]


def test_equal_attempts_are_recorded_less_and_less_often() -> None:
    assert counted(Attempts(), 2_000, alarmed=True) == [1, 3, 10, 100, 1_000]


@pytest.mark.parametrize(
    ("standing", "console", "alarms"),
    [
        ("below", False, [True, True, True]),
        ("below", True, [True, True, True]),
        ("adrift", False, [True, True, True]),
        ("adrift", True, [False, False, True]),
        ("locked", False, [False, False, True]),
        ("locked", True, [False, False, False]),
    ],
)
def test_it_is_an_alarm_where_no_person_can_be(
    standing: str, console: bool, alarms: list[bool]
) -> None:
    attempts = Attempts()
    told = [
        attempts.refused(A, (verb, "", ""), standing, console=console, alarmed=False, now_s=0.0)
        for verb in ("off", "stop", "decide")
    ]
    assert [each is not None and each.alarm for each in told] == alarms


def test_an_alarm_that_is_not_on_any_screen_is_recorded_at_once() -> None:
    attempts = Attempts()
    assert counted(attempts, 2, alarmed=False) == [1]
    assert attempts.refused(A, ("stop", "", ""), "locked", console=False, alarmed=False, now_s=0.0)
    assert counted(attempts, 1, alarmed=True) == [3]
    assert counted(attempts, 1, alarmed=True) == []
    assert counted(attempts, 1, alarmed=False) == [5]


def test_more_kinds_than_are_told_apart_are_counted_together() -> None:
    attempts, told = Attempts(), 0
    for number in range(MAX_KINDS + 1_000):
        place = number, str(number)
        verb = ("off", "", "")
        found = attempts.refused(place, verb, "below", console=False, alarmed=True, now_s=0.0)
        told += found is not None
    assert told == MAX_KINDS + len((1, 3, 10, 100, 1_000))


def test_after_an_hour_it_counts_anew() -> None:
    attempts = Attempts()
    assert counted(attempts, 2, alarmed=True) == [1]
    later = attempts.refused(
        A, ("off", "", ""), "locked", console=False, alarmed=True, now_s=FORGOTTEN_S
    )
    assert later is not None
    assert later.count == 1


def test_the_constants_are_those_of_the_documentation() -> None:
    assert (ALARM_AFTER, MAX_KINDS, FORGOTTEN_S) == (3, 100, 3_600.0)


def actor(*names: str) -> Actor:
    chain = tuple(
        ProcessLink(pid, str(pid), name) for pid, name in zip((47, 30, 20, 1), names, strict=False)
    )
    return Actor(pid=47, uid=1, name=names[0] if names else "", standing="unproven", chain=chain)


def test_the_process_is_named_with_what_started_it() -> None:
    assert who(actor("python3", "sh", "tmux: server", "systemd")) == (
        "python3 (pid 47), started below sh and tmux: server,"
    )
    assert who(actor("python3", "sh", "npm")) == "python3 (pid 47), started below sh and npm,"
    assert who(actor()) == "a process (pid 47)"


def test_names_and_commands_from_outside_stay_on_one_short_line() -> None:
    hostile = actor("\x1b[2J\n" * 20, "\u202esh" * 50, "x" * 5_000)
    data = AttemptData(
        what=f"{who(hostile)} {doing('decide', 'allow')}",
        verb="decide",
        refused="locked",
        standing="below",
        summary="echo \x1b]0;x\x07" + "y" * 5_000,
    )
    words = sentence(data)
    assert words.isprintable()
    assert len(words) < 400


@pytest.mark.parametrize("verb", get_args(Verb))
def test_every_verb_has_words(verb: str) -> None:
    assert doing(verb, "").startswith("tried to ")


def record(seq: int, kind: str, data: dict[str, Any]) -> Record:
    return Record(v=1, seq=seq, core="a", at=seq, kind=kind, data=data)


def test_the_alarm_stands_until_a_proven_person_has_seen_it() -> None:
    state = State()
    told = AttemptData(
        what="sh tried to allow a call",
        verb="decide",
        refused="locked",
        standing="below",
        summary="git push",
        alarm=ALARM,
    )
    quiet = {**msgspec.to_builtins(told), "alarm": ""}
    loud = msgspec.to_builtins(told)
    unproven = {"actor": {"standing": "unproven"}}
    alarm = "sh tried to allow a call (git push): refused"
    for number, (kind, data, alarms) in enumerate(
        (
            ("policy.refused", quiet, []),
            ("policy.refused", loud, [alarm]),
            ("policy.refused", {**loud, "count": 3}, [f"{alarm} (attempt 3)"]),
            ("policy.on", unproven, [f"{alarm} (attempt 3)"]),
            ("policy.on", {"what": "of an older core"}, [f"{alarm} (attempt 3)"]),
            ("policy.on", {"actor": {"standing": "clear"}}, []),
        ),
        1,
    ):
        state.apply(record(number, kind, data))
        assert [each.what for each in state.gate.tampered] == alarms
        assert all("watchgate on" in each.mend for each in state.gate.tampered)
    assert state.skipped == 0
