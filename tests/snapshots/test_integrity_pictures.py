"""Files that the gate rests on were changed, and somebody was told of a request, as pictures."""

from __future__ import annotations

import msgspec

from tests.snapshots.test_pictures import Picture, picture
from tests.ui.picture import busy, critical_request, quiet
from watchgate.core.model.records import EscalatedData, TamperedData
from watchgate.core.model.views import GateView
from watchgate.link.protocol import Snapshot

REMOVED = TamperedData(
    part="hooks",
    path="/home/ana/.claude/settings.json",
    agent="claude",
    what=(
        "the gate entries of Claude Code were removed from ~/.claude/settings.json:"
        " its calls run ungated"
    ),
    mend="watchgate install claude",
)
CLIENT = TamperedData(
    part="client",
    path="/home/ana/.local/share/watchgate/watchgate_client.py",
    what=(
        "the hook client ~/.local/share/watchgate/watchgate_client.py is not the one that was"
        " installed: every hook runs what somebody else wrote there"
    ),
    mend="watchgate install claude codex",
)


def tampered(snapshot: Snapshot, *found: TamperedData) -> Snapshot:
    """The same picture while these files are not what they were."""
    return msgspec.structs.replace(snapshot, gate=GateView(tampered=found))


def escalated() -> Snapshot:
    """The busy picture, its first request told elsewhere after a minute."""
    told = (
        EscalatedData(to="ana's phone", waited_s=60.2),
        EscalatedData(to="ops", waited_s=60.2, detail="https://ops.example answered 503"),
    )
    view = msgspec.structs.replace(critical_request(), escalated=told)
    return msgspec.structs.replace(busy(), pending=(view,))


def test_removed_hooks(snap_compare: Picture) -> None:
    """120x40: the chip in the strip, what it means above the dock, the command that mends it."""
    assert picture(snap_compare, tampered(quiet(), REMOVED), (120, 40))


def test_removed_hooks_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: the words on two lines, the rest in short."""
    assert picture(snap_compare, tampered(quiet(), REMOVED, CLIENT), (80, 24))


def test_removed_hooks_while_a_request_waits(snap_compare: Picture) -> None:
    """The request keeps its room; the chips stay."""
    assert picture(snap_compare, tampered(busy(), REMOVED), (120, 40))


def test_a_request_that_was_told_elsewhere(snap_compare: Picture) -> None:
    """The request's page: who was told after how long, and who could not be."""
    assert picture(snap_compare, escalated(), (120, 45), lambda shown: shown.press("v"))
