"""A disk that is full: gates deny and say the mend, observation goes on, and room heals it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.clients import Control
from tests.crash.small_disk import SmallDiskCore, why_not
from tests.e2e.programs import bash, until
from watchgate.service.journal import journal_reader
from watchgate.service.journal.verification import verify_journal

RISKY = "git reset --hard HEAD~3"
NO_DISK = why_not()

pytestmark = pytest.mark.skipif(bool(NO_DISK), reason=f"no small disk to be had: {NO_DISK}")


@pytest.fixture
def core() -> Iterator[SmallDiskCore]:
    core = SmallDiskCore()
    yield core
    core.end()


def note(core: SmallDiskCore, name: str) -> None:
    """Something that is only observed."""
    payload = {"session_id": "s1", "cwd": "/tmp", "prompt": name}
    assert core.hook("UserPromptSubmit", payload, lane="observe").done().code == 0


def is_journal(record: dict[str, Any]) -> bool:
    return bool(record["kind"] == "policy.journal")


def is_note(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda record: bool(record["kind"] == "prompt.submit" and name in str(record["data"]))


def test_a_disk_that_fills_up_denies_and_goes_on_looking_until_there_is_room(
    core: SmallDiskCore, tmp_path: Path
) -> None:
    core.start()
    with Control(core.runtime / "control.sock") as console:
        console.ask("attach")
        core.fill()
        denied = core.hook("PreToolUse", bash(RISKY)).done()
        assert denied.code == 2
        lost = console.pushed(is_journal)
        assert "no space on its disk: make room there" in lost["data"]["detail"]
        again = core.hook("PreToolUse", bash(RISKY, "call-2")).done()
        assert again.code == 2
        assert "make room there" in again.err
        note(core, "while-it-is-full")
        assert console.pushed(is_note("while-it-is-full"))
        core.make_room()
        assert console.pushed(is_journal)["data"]["detail"] == "ok"
        core.prove()
        held = core.hook("PreToolUse", bash(RISKY, "call-3"))
        (request,) = core.pending()
        assert core.allow(request).code == 0
        assert held.done().code == 0
    core.seen("effect.sent")
    journal = core.journal(tmp_path / "copy")
    finding = verify_journal(journal)
    assert finding.problem is None
    records = list(journal_reader.read(journal, 1, 10_000))
    assert [record.seq for record in records] == list(range(1, finding.head.seq + 1))
    kinds = [record.kind for record in records]
    assert "prompt.submit" in kinds, "what was observed meanwhile is lost"
    words = [r.data["word"] for r in records if r.kind == "approval.decided"]
    assert words[-1] == "allowed-by-operator"
    assert not any(word.startswith("allowed-") for word in words[:-1])


def test_a_core_that_starts_on_a_full_disk_denies_until_there_is_room(
    core: SmallDiskCore, tmp_path: Path
) -> None:
    core.start(full=True)
    with Control(core.runtime / "control.sock") as console:
        gate = console.ask("attach")["snapshot"]["gate"]
        assert "make room there" in gate["journal"]
        denied = core.hook("PreToolUse", bash(RISKY)).done()
        assert denied.code == 2
        assert "make room there" in denied.err
        note(core, "seen-and-not-kept")
        assert console.pushed(is_note("seen-and-not-kept"))
        core.make_room()
        console.wait_for_the_end()
    # It starts over in place; for a moment nobody listens.
    until(lambda: core.cli("status").code == 0, "the core again", every_s=0.1)
    told = core.seen("policy.journal")["data"]
    assert "not in it" in told["what"]
    core.prove()
    held = core.hook("PreToolUse", bash(RISKY, "call-2"))
    (request,) = core.pending()
    assert core.allow(request).code == 0
    assert held.done().code == 0
    core.seen("effect.sent")
    assert verify_journal(core.journal(tmp_path / "copy")).problem is None


def test_a_core_that_is_stopped_before_there_is_room_says_what_is_lost(core: SmallDiskCore) -> None:
    core.start(full=True)
    assert core.process is not None
    core.process.terminate()
    _, said = core.process.communicate(timeout=60)
    assert b"the journal could not be written: " in said
    assert b"records are lost" in said
