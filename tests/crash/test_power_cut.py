"""What a power cut can leave: less of the log than was written, and what was said lies safe.

A process that is killed leaves all that it has written; a machine without power leaves what was
synced. Here the log is cut short wherever the disk may have stopped, and the order of writes,
syncs and answers is looked at from outside.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.programs import Core, bash
from tests.service.scribe import Scribe, write_history
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal

COMMITS = 12
RISKY = "git push --force"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A journal of several commits, as it lies there while a core runs."""
    (tmp_path / "live").mkdir()
    path = tmp_path / "live" / "journal.db"
    write_history(path, 3)
    journal = Journal.open(path)
    scribe = Scribe(journal)
    for _ in range(COMMITS):
        scribe.write(2)
        assert scribe.commit()
    there = tmp_path / "cut"
    there.mkdir()
    for name in ("journal.db", "journal.db-wal", "journal.head"):
        shutil.copy(path.with_name(name), there / name)
    journal.close()
    return there / "journal.db"


def test_a_log_that_lost_its_tail_is_a_sound_journal_that_says_what_it_lost(cut: Path) -> None:
    log = cut.with_name("journal.db-wal")
    whole = log.read_bytes()
    full = verify_journal(cut)
    assert full.problem is None
    lengths = sorted({*range(0, len(whole), 509), *range(32, len(whole), 4_120)})
    found = set()
    for length in lengths:
        log.write_bytes(whole[:length])
        cut.with_name("journal.db-shm").unlink(missing_ok=True)
        left = verify_journal(cut)
        found.add(left.head.seq)
        assert left.head.seq < full.head.seq
        assert left.problem is not None
        assert f"record {full.head.seq} is missing" in left.problem.message
    assert found == set(range(3, full.head.seq, 2)), "not every commit was cut off once"


def test_a_head_file_that_lags_behind_is_no_fault(cut: Path) -> None:
    newest = verify_journal(cut).head.seq
    head = cut.with_name("journal.head")
    text = head.read_bytes()
    journal = Journal.open(cut)
    Scribe(journal).write(4)
    journal.close()
    head.write_bytes(text)
    left = verify_journal(cut)
    assert left.problem is None
    assert (left.head.seq, left.unheaded) == (newest + 4, 4)


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace to look with")
def test_an_allow_is_synced_before_its_agent_hears_of_it(tmp_path: Path) -> None:
    core = Core()
    core.start()
    assert core.process is not None
    trace = tmp_path / "trace"
    calls = "trace=pwrite64,fdatasync,fsync,sendto"
    command = ["strace", "-f", "-y", "-s", "5000", "-e", calls, "-o", str(trace)]
    watcher = subprocess.Popen([*command, "-p", str(core.process.pid)], stderr=subprocess.PIPE)
    assert watcher.stderr is not None
    if b"attached" not in watcher.stderr.readline():
        core.end()
        pytest.skip("no process may be looked at here")
    try:
        hook = core.hook("PreToolUse", bash(RISKY))
        (request,) = core.pending()
        assert core.allow(request).code == 0
        assert hook.done().code == 0
    finally:
        core.end()
        watcher.communicate(timeout=60)
    lines = trace.read_text(errors="replace").splitlines()
    (heard,) = (at for at, line in enumerate(lines) if "sendto(" in line and '\\"allow\\"' in line)
    before = lines[:heard]
    log = [at for at, line in enumerate(before) if _is(line, "pwrite64", "journal.db-wal")]
    decided = [at for at in log if "allowed-by-operator" in lines[at]]
    synced = [at for at, line in enumerate(before) if _is(line, "fdatasync", "journal.db-wal")]
    assert decided, "the allow was not even written"
    assert synced[-1] > log[-1], "the agent heard of an allow that lay in memory alone"


def _is(line: str, call: str, file: str) -> bool:
    return re.search(rf"{call}\(\d+<[^>]*/{re.escape(file)}>", line) is not None
