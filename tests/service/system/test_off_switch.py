from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from watchgate.core.base.clock import Instant
from watchgate.service.system.off_switch import (
    OffSwitch,
    boot_id,
    off_seconds,
    read_switch,
    remove_switch,
    write_switch,
)

NOW = Instant(wall_us=1_700_000_000_000_000, mono_s=5.0)
NOW_S = 1_700_000_000


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "off"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1_800), ("2h", 7_200), ("45s", 45), ("7d", 604_800), ("until-reboot", 0)],
)
def test_a_time_is_a_number_with_its_unit(text: str, seconds: int) -> None:
    assert off_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "m", "0m", "-5m", "1.5h", "2h30m", " 30m", "8d", "99999999999s", "٣m", "30M"]
)
def test_anything_else_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"number with s, m, h or d .* or until-reboot"):
        off_seconds(text)


def test_without_a_file_the_gate_is_on(path: Path) -> None:
    assert read_switch(path, NOW) is None
    remove_switch(path)


def test_a_switch_holds_until_its_second(path: Path) -> None:
    write_switch(path, NOW_S + 60)
    assert path.read_bytes() == b"%d\n" % (NOW_S + 60)
    assert read_switch(path, NOW) == OffSwitch(NOW_S + 60)
    assert read_switch(path, NOW.plus(59.9)) == OffSwitch(NOW_S + 60)
    assert read_switch(path, NOW.plus(60)) is None


def test_a_switch_until_reboot_holds_in_this_boot_only(path: Path) -> None:
    write_switch(path, None)
    assert path.read_text() == f"boot {boot_id()}\n"
    assert read_switch(path, NOW) == OffSwitch(None)
    path.write_text("boot 00000000-0000-0000-0000-000000000000\n")
    assert read_switch(path, NOW) is None


def test_the_file_is_private_and_replaced_whatever_the_umask(path: Path) -> None:
    before = os.umask(0o277)
    try:
        write_switch(path, NOW_S + 60)
        write_switch(path, NOW_S + 90)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_switch(path, NOW) == OffSwitch(NOW_S + 90)
    assert [file.name for file in path.parent.iterdir()] == ["off"]


def test_removed_the_gate_is_on(path: Path) -> None:
    write_switch(path, None)
    remove_switch(path)
    assert read_switch(path, NOW) is None


def test_a_left_over_of_a_broken_write_is_no_obstacle(path: Path) -> None:
    precious = path.with_name("precious")
    precious.write_text("mine")
    path.with_name("off.new").symlink_to(precious)
    write_switch(path, NOW_S + 60)
    assert precious.read_text() == "mine"
    assert read_switch(path, NOW) == OffSwitch(NOW_S + 60)


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o606, 0o400, 0o700])
def test_a_file_with_another_mode_is_no_switch(path: Path, mode: int) -> None:
    write_switch(path, NOW_S + 60)
    path.chmod(mode)
    assert read_switch(path, NOW) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_no_switch(path: Path) -> None:
    write_switch(path, NOW_S + 60)
    os.chown(path, 65534, 65534)
    assert read_switch(path, NOW) is None


def test_a_link_a_pipe_and_a_folder_are_no_switch(path: Path) -> None:
    real = path.with_name("real")
    write_switch(real, NOW_S + 60)
    path.symlink_to(real)
    assert read_switch(path, NOW) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert read_switch(path, NOW) is None
    path.unlink()
    path.mkdir(0o700)
    assert read_switch(path, NOW) is None


@pytest.mark.parametrize(
    "line", [b"", b"on", b"-1", b"1e12", b"boot", b"boot ", b"\xff\xfe", b"9 9"]
)
def test_a_line_of_another_form_is_no_switch(path: Path, line: bytes) -> None:
    write_switch(path, None)
    path.write_bytes(line)
    assert read_switch(path, NOW) is None


def test_the_words_say_until_when() -> None:
    assert OffSwitch(None).words() == "until reboot"
    assert OffSwitch(NOW_S).words().startswith("until 2023-11-1")
    assert OffSwitch(10**90).words() == "for longer than the calendar goes"
