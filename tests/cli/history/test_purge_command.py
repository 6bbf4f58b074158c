from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.service.past import Past
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit
from watchgate.link.paths import paths
from watchgate.service.journal import journal_reader
from watchgate.service.journal.verification import verify_journal
from watchgate.service.system.runtime_dir import RuntimeDir


@pytest.fixture
def journal() -> Path:
    """A journal that no core holds: three records of one session, one of another."""
    past = Past()
    for session in ("4f1c-one", "4f1c-one", "77aa-two", "4f1c-one"):
        past.note(session)
    path = past.written(Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db")
    path.parent.chmod(0o700)
    return path


def texts(journal: Path) -> list[str | None]:
    """The texts of the notes that were recorded, None for each that lost it."""
    return [record.data.get("text") for record in journal_reader.read(journal, 1, 4)]


def test_without_a_core_the_command_purges_by_itself(cli: Cli, journal: Path) -> None:
    said = cli("purge", "--session", "claude:4f1c-one", "--yes")
    assert said.code == Exit.DONE, said.err
    assert "3 records of claude:4f1c-one, up to 4, are purged." in said.out
    told = journal_reader.tail(journal, 1)[0]
    assert (told.kind, told.core) == ("policy.purged", "no-core")
    assert told.data["by"].endswith(", no core)")
    verdict = verify_journal(journal)
    assert (verdict.problem, verdict.count, verdict.purged) == (None, 5, 3)
    assert texts(journal)[2] == "in 77aa-two"


def test_a_session_is_named_by_the_beginning_of_its_id(cli: Cli, journal: Path) -> None:
    (line,) = cli("purge", "--session", "77aa", "--yes", "--json").lines
    assert line == {
        "agent": "claude",
        "session": "77aa-two",
        "records": 1,
        "upto": 3,
        "emptied": True,
    }
    assert "Nothing was left to purge" in cli("purge", "--session", "77aa", "--yes").out


def test_on_a_terminal_the_word_is_typed(journal: Path) -> None:
    for word, code, bare in (("yes", Exit.REFUSED, 0), ("purge", Exit.DONE, 3)):
        with Terminal("purge", "--session", "4f1c") as terminal:
            terminal.wait_for("Type purge")
            assert "digests stay" in terminal.seen
            terminal.type(f"{word}\n")
            assert terminal.code() == code
        assert texts(journal).count(None) == bare


def test_without_a_terminal_the_word_yes_is_needed(cli: Cli, journal: Path) -> None:
    said = cli("purge", "--session", "4f1c")
    assert said.code == Exit.USAGE
    assert "--yes" in said.err
    assert None not in texts(journal)


def test_a_session_that_nobody_knows_is_refused(cli: Cli, journal: Path) -> None:
    assert cli("purge", "--session", "nobody", "--yes").code == Exit.REFUSED
    assert None not in texts(journal)


def test_without_a_journal_there_is_nothing_to_purge(cli: Cli) -> None:
    said = cli("purge", "--session", "4f1c", "--yes")
    assert said.code == Exit.NO_CORE
    assert "nothing was recorded yet" in said.err


def test_a_core_that_cannot_be_asked_is_not_worked_around(cli: Cli, journal: Path) -> None:
    with RuntimeDir(paths(os.environ)):
        said = cli("purge", "--session", "4f1c", "--yes")
    assert said.code == Exit.REFUSED
    assert "a core is already running" in said.err
    assert None not in texts(journal)


def test_a_running_core_drops_what_it_recorded_and_goes_on(
    cli: Cli, core: Core, held: Callable[..., dict[str, Any]]
) -> None:
    request = held("git push --force secret-place")
    said = cli("purge", "--session", "claude:s1", "--yes", "--json")
    assert said.code == Exit.DONE, said.err
    assert said.lines[0]["records"] > 0
    assert b"secret-place" not in on_disk(core)
    assert cli("deny", request["id"]).code == Exit.DONE
    assert cli("audit", "verify").code == Exit.DONE


def on_disk(core: Core) -> bytes:
    return b"".join(
        file.read_bytes() for file in core.paths.state_dir.iterdir() if "journal" in file.name
    )
