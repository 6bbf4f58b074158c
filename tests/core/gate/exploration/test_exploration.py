"""Every situation of the real engine in a bounded world, and every law in each of them."""

from __future__ import annotations

import os
from typing import Final

import pytest

from tests.core.gate.exploration.explorer import Explorer
from tests.core.gate.exploration.scopes import FULL, SUITE, Scope
from tests.core.gate.exploration.situation import Situation

WHOLE: Final = os.environ.get("WATCHGATE_MODEL") == "full"

REFUSED: Final = (
    "refused already_settled",
    "refused too_late",
    "refused digest_mismatch",
    "refused unknown_id",
    "refused self_approval",
    "refused bad_request",
    "refused not_offered",
    "refused not_armed",
)
GATE: Final = (
    "allow: pending -> committing (allowed-by-operator)",
    "written: committing -> allowed (allowed-by-operator)",
    "written: committing -> expired (denied-by-timeout)",
    "not written: committing -> denied (denied-no-journal)",
    "deny: pending -> denied (denied-by-operator)",
    "expire: pending -> expired (denied-by-timeout)",
    "expire: committing -> expired (denied-by-timeout)",
    "the core stops: pending -> denied (denied-core-stopped)",
    "the core stops: committing -> denied (denied-core-stopped)",
)
RELAY: Final = (
    "written: committing -> handed back (handed-back-by-timeout)",
    "not written: committing -> handed back (handed-back)",
    "expire: pending -> handed back (handed-back-by-timeout)",
    "ran it: pending -> elsewhere (answered-elsewhere)",
    "ran it: committing -> elsewhere (answered-elsewhere)",
)
TWO: Final = (
    "asks: pending, 2 wait",
    "asks: committing, 2 wait",
    "asks: over without a request",
    "hangs up: pending, 1 wait",
    "hangs up: committing, 1 wait",
)
GRANTED: Final = (
    "written: pending -> committing (allowed-by-grant)",
    "written: committing -> allowed (allowed-by-grant)",
)
LEFT: Final = (
    "hangs up: pending -> withdrawn (withdrawn)",
    "hangs up: committing -> withdrawn (withdrawn)",
)
ALONE: Final = (
    "a console leaves: pending -> denied (denied-no-approver)",
    "asks: asked -> denied (denied-no-approver)",
    "fails: pending -> denied (denied-failure)",
    "fails: committing -> denied (denied-failure)",
    "handback: pending -> handed back (handed-back-by-operator)",
)

KNOWN: Final[dict[str, tuple[int, int, tuple[str, ...]]]] = {
    "four connections wait": (800, 3_500, (*GATE, *RELAY, *GRANTED)),
    "three calls wait, clients leave": (1_200, 6_000, (*GATE, *RELAY, *GRANTED, *LEFT)),
    "two equal calls come when they will": (
        800,
        4_000,
        (*GATE, *TWO, *GRANTED, *LEFT, "asks: asked -> committing (allowed-by-grant)"),
    ),
    "the last console leaves": (
        1_100,
        4_000,
        (*GATE, *RELAY, *ALONE, "a console leaves: pending -> handed back (handed-back)"),
    ),
    "consoles leave, and calls go on": (450, 1_800, (*GATE, *RELAY, *LEFT)),
    "a call comes twice": (600, 1_800, (*GATE, *TWO, *ALONE, "fails: pending, 1 wait")),
    "everything": (33_000, 290_000, (*GATE, *RELAY, *TWO, *GRANTED, *LEFT)),
    "everything, and nobody may look on": (
        29_000,
        240_000,
        (*GATE, *RELAY, *TWO, *GRANTED, *LEFT, *ALONE),
    ),
}
"""Situations and moves that each scope has at least, and what has to happen in it.

So no law holds because nothing happened.
"""


@pytest.mark.parametrize("name", SUITE | (FULL if WHOLE else {}))
def test_every_request_is_settled_once_and_allowed_only_by_a_live_decision(name: str) -> None:
    found = Explorer((SUITE | FULL)[name]).run()
    situations, moves, happens = KNOWN[name]
    assert found.situations >= situations
    assert found.moves >= moves
    assert [each for each in (*REFUSED, *happens) if not found.happened[each]] == []


ALIKE: Final = {
    "two equal calls": SUITE["two equal calls come when they will"],
    "a call comes twice": SUITE["a call comes twice"],
    "a gate and a relay": Scope(
        conns=(1, 4), without=frozenset({"fails", "hangs up", "a console leaves"})
    ),
}


@pytest.mark.parametrize("scope", ALIKE.values(), ids=ALIKE)
def test_situations_that_are_taken_for_one_go_on_alike(scope: Scope) -> None:
    explorer = Explorer(scope)
    explorer.run()
    assert explorer.differing() == []


def test_situations_that_differ_are_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Situation._form
    monkeypatch.setattr(Situation, "_form", lambda self, request: whole(self, request)[:4])
    explorer = Explorer(Scope(conns=(1,), ran=(), without=frozenset({"fails"})))
    explorer.run()
    assert "another way to the same situation goes on otherwise" in explorer.differing()[0]
