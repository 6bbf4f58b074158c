from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.client.fake_core import PATIENCE_S, answering, command, listening, run

pytestmark = pytest.mark.usefixtures("each_client")

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.fixture
def switch(runtime_dir: Path) -> Path:
    return runtime_dir / "off"


def write(switch: Path, text: str, mode: int = 0o600) -> None:
    switch.write_text(text)
    switch.chmod(mode)


def in_an_hour() -> str:
    return str(int(time.time()) + 3_600)  # noqa: TID251 - the client compares with the wall clock


def is_handed_back(path: Path, lane: str = "gate") -> bool:
    done = run(command(path, lane))
    assert (done.returncode, bool(done.stdout), bool(done.stderr)) in {
        (0, False, False),
        (2, True, True),
    }
    return done.returncode == 0


@pytest.mark.parametrize("lane", ["gate", "gate-read", "relay", "observe"])
def test_while_it_is_off_every_lane_hands_back_without_a_core(
    path: Path, switch: Path, lane: str
) -> None:
    write(switch, in_an_hour() + "\n")
    assert is_handed_back(path, lane)


def test_an_agent_that_takes_silence_for_a_failure_is_told_that_it_may_go_on(
    path: Path, switch: Path
) -> None:
    words = command(path, "gate", "preToolUse", "10", '{"no":"@"}', "0", '{"permission":"allow"}')
    assert run(words).stdout.startswith(b'{"no":"watchgate core is not running.')
    write(switch, in_an_hour())
    done = run(words)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"permission":"allow"}', b"")


@pytest.mark.parametrize("lane", ["gate", "gate-read", "relay", "observe"])
def test_a_core_is_told_in_the_manner_of_an_observer(path: Path, switch: Path, lane: str) -> None:
    write(switch, in_an_hour())
    with listening(path, answering(b"2 4 4\nDENYdeny")) as frames:
        done = run(command(path, lane), b"{}")
        frame = frames.get(timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    lines = ["watchgate/1 claude observe", "length: 2", "event: PreToolUse", "off: 1"]
    assert frame == (lines, b"{}")


@pytest.mark.skipif(not BOOT_ID.exists(), reason="this system tells no boot id")
def test_it_can_last_until_the_next_boot(path: Path, switch: Path) -> None:
    write(switch, f"boot {BOOT_ID.read_text().strip()}\n")
    assert is_handed_back(path)
    write(switch, "boot 00000000-0000-0000-0000-000000000000\n")
    assert not is_handed_back(path)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "0", "1700000000", "-1", "99999999999.5", "yes", "boot", "boot ", "99999999999 x"],
)
def test_expired_or_malformed_it_does_not_count(path: Path, switch: Path, text: str) -> None:
    write(switch, text)
    assert not is_handed_back(path)


def test_it_is_one_line(path: Path, switch: Path) -> None:
    write(switch, f"{in_an_hour()}\n{in_an_hour()}\n")
    assert not is_handed_back(path)


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o640, 0o400, 0o700, 0o4600])
def test_of_another_mode_it_does_not_count(path: Path, switch: Path, mode: int) -> None:
    write(switch, in_an_hour(), mode)
    assert not is_handed_back(path)


def test_behind_a_link_it_does_not_count(path: Path, switch: Path, tmp_path: Path) -> None:
    write(tmp_path / "off", in_an_hour())
    switch.symlink_to(tmp_path / "off")
    assert not is_handed_back(path)


def test_as_a_pipe_it_neither_counts_nor_blocks(path: Path, switch: Path) -> None:
    os.mkfifo(switch, 0o600)
    assert not is_handed_back(path)


def test_as_a_directory_it_does_not_count(path: Path, switch: Path) -> None:
    switch.mkdir(0o600)
    assert not is_handed_back(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_of_somebody_else_it_does_not_count(path: Path, switch: Path) -> None:
    write(switch, in_an_hour())
    os.chown(switch, 12_345, -1)
    assert not is_handed_back(path)


def test_in_a_directory_that_others_may_enter_it_does_not_count(path: Path, switch: Path) -> None:
    write(switch, in_an_hour())
    switch.parent.chmod(0o750)
    assert not is_handed_back(path)
