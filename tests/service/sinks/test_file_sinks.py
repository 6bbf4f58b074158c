from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.service.sinks.parts import lines, record, running, seqs, sink
from tests.service.wire_frames import NOBODY, is_root, until
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.sink_types import Jsonl, append_lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "events.jsonl"


def written(path: Path) -> list[int]:
    return seqs(path.read_bytes())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_cw_10_folders_are_made_on_the_first_record_and_belong_to_the_user(
    path: Path,
) -> None:
    each = sink(Jsonl(path))
    async with running(each):
        await anyio.wait_all_tasks_blocked()
        assert not path.parent.exists()
        each.offer(record(1))
        await until(path.exists, "the file is there")
    assert (mode(path), mode(path.parent), mode(path.parent.parent)) == (0o600, 0o700, 0o700)


async def test_cw_10_640_records_of_32_tasks_are_640_whole_lines(path: Path) -> None:
    each = sink(Jsonl(path), queue=1_000)

    async def emit(task: int) -> None:
        for number in range(20):
            each.offer(record(task * 20 + number, size=997 * (number % 7)))
            await anyio.lowlevel.checkpoint()

    async with running(each):
        async with anyio.create_task_group() as tasks:
            for task in range(32):
                tasks.start_soon(emit, task)
        await until(lambda: each.counters.sent == 640, "everything is written")
        found = written(path)
    assert len(found) == 640
    assert set(found) == set(range(640))


async def test_cw_b12_two_writers_of_one_file_mix_no_lines(path: Path) -> None:
    first, second = sink(Jsonl(path)), sink(Jsonl(path))
    async with running(first, second):
        for seq in range(100):
            first.offer(record(seq, size=9_000))
            second.offer(record(seq, size=9_000))
    found = written(path)
    assert sorted(found) == sorted(2 * list(range(100)))


def test_cw_b12_a_line_that_another_core_is_just_writing_is_not_taken_for_one_cut_short(
    path: Path,
) -> None:
    append_lines(path, lines(1))
    line = lines(1)[0]
    other = threading.Thread(target=append_lines, args=(path, lines(1)))
    with path.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(line[:9])
        other.start()
        other.join(timeout=0.05)
        file.write(line[9:])
    other.join()
    assert path.read_bytes() == 3 * line


def test_a_batch_is_appended_to_what_is_there(path: Path) -> None:
    assert append_lines(path, lines(2)) == (2, "")
    assert append_lines(path, lines(2)) == (2, "")
    assert seqs(path.read_bytes()) == [1, 2, 1, 2]


def test_a_file_that_was_moved_away_is_made_again(path: Path) -> None:
    append_lines(path, lines(1))
    path.rename(path.with_suffix(".1"))
    append_lines(path, lines(2))
    assert seqs(path.read_bytes()) == [1, 2]


def test_a_line_that_was_cut_by_a_crash_does_not_spoil_the_next(path: Path) -> None:
    append_lines(path, lines(1))
    with path.open("ab") as file:
        file.write(b'{"v":1,"seq":')
    append_lines(path, lines(1))
    first, cut, last = path.read_bytes().splitlines(keepends=True)
    assert seqs(first) == seqs(last) == [1]
    assert cut == b'{"v":1,"seq":\n'


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.service.sinks.parts import lines
from watchgate.service.sinks.sink_types import append_lines
path, entries = Path(sys.argv[1]), lines(3)
room = sum(map(len, entries[:2])) + 20
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
print(append_lines(path, entries))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
print(append_lines(path, entries[2:]))
"""


def test_cw_b12_a_full_disk_leaves_whole_lines_and_says_which_are_there(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"(2, '{path}: File too large')", "(1, '')"]
    assert seqs(path.read_bytes()) == [1, 2, 3]


async def test_what_could_not_be_written_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Undelivered) as fault:
        await Jsonl(tmp_path / "file" / "events.jsonl").send(lines(1))
    assert (fault.value.then, fault.value.sent, fault.value.quiet) == ("retry", 0, False)
    assert "Not a directory" in fault.value.why


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a device"])
def test_what_is_no_file_is_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "x"
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a folder":
        path.mkdir()
    else:
        path = Path(os.devnull)
    sent, why = append_lines(path, lines(1))
    assert sent == 0
    assert "not a regular file" in why or "Is a directory" in why


@pytest.mark.skipif(not is_root(), reason="only root can give a file away")
def test_cw_b1_a_file_of_another_user_gets_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    os.chown(path, NOBODY, NOBODY)
    sent, why = append_lines(path, lines(1))
    assert (sent, path.read_bytes()) == (0, b"")
    assert f"belongs to user {NOBODY}" in why
