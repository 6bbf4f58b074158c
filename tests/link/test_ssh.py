"""The control protocol over ssh, spoken with a stand-in that runs on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests import standin_ssh
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Result
from watchgate.link.ssh import HostUnreachable, Target, connect_ssh

PROGRAM = (sys.executable, standin_ssh.__file__)
SPEAKS = """
import json, sys, time
hello = {"watchgate": "1", "core": "core-b", "boot": 1, "seq": 7, "profile": "guard"}
print(json.dumps(hello), flush=True)
asked = json.loads(sys.stdin.readline())
print(json.dumps({"id": asked["id"], "ok": {"heard": sys.argv[-3:]}}), flush=True)
if asked.get("reason") == "die":
    print("Timeout, server lab2 not responding.", file=sys.stderr)
    sys.exit(255)
sys.stdin.read()
"""


@pytest.fixture
def speaks(tmp_path: Path) -> tuple[str, str]:
    """A program in ssh's place that is a core by itself, and answers once."""
    path = tmp_path / "speaks.py"
    path.write_text(SPEAKS)
    return sys.executable, str(path)


async def test_a_core_elsewhere_greets_and_answers(speaks: tuple[str, str]) -> None:
    async with connect_ssh(Target("lab2"), program=speaks) as client:
        assert client.hello.core == "core-b"
        answer = await client.call("hello")
    assert isinstance(answer, Result)
    assert answer.ok["heard"] == ["lab2", "watchgate", "stdio"]


async def test_why_it_was_lost_is_what_ssh_said_last(speaks: tuple[str, str]) -> None:
    async with connect_ssh(Target("lab2"), program=speaks) as client:
        await client.call("hello", reason="die")
        with pytest.raises(CoreLost, match="Timeout, server lab2 not responding"):
            await client.batch()


async def test_a_question_to_a_machine_that_died_is_lost_and_not_left_waiting(
    speaks: tuple[str, str],
) -> None:
    async with connect_ssh(Target("lab2"), program=speaks) as client:
        await client.call("hello", reason="die")
        for _ in range(3):
            with pytest.raises(CoreLost, match="not responding"):
                await client.call("hello")


async def _why(host: str) -> str:
    with pytest.raises(HostUnreachable) as fault:
        async with connect_ssh(Target(host), program=PROGRAM):
            pass
    assert fault.value.target.host == host
    return fault.value.why


@pytest.mark.parametrize(
    ("host", "said", "mend"),
    [
        ("locked", "Permission denied (publickey,password).", "a password is never asked for here"),
        ("stranger", "Host key verification failed.", "connect once by hand with `ssh stranger`"),
        ("bare", "watchgate: command not found", "`ssh bare watchgate --version` must work"),
        ("nowhere", "Could not resolve hostname nowhere", ""),
        ("mute", "it closed the connection", ""),
    ],
)
async def test_what_ssh_complains_of_comes_with_what_mends_it(
    host: str, said: str, mend: str
) -> None:
    why = await _why(host)
    assert said in why
    assert mend in why


async def test_nothing_that_a_machine_says_reaches_the_terminal_as_it_is() -> None:
    why = await _why("hostile")
    assert "\x1b" not in why
    assert "\u202e" not in why
    assert "<U+001B>" in why


async def test_a_greeting_before_the_protocol_is_no_core() -> None:
    why = await _why("chatty")
    assert "cannot read" in why
    assert "`ssh chatty true` must print nothing" in why


async def test_a_core_of_another_protocol_is_told_and_left(tmp_path: Path) -> None:
    path = tmp_path / "newer.py"
    path.write_text(SPEAKS.replace('"seq": 7', '"seq": 7, "schema": 2'))
    with pytest.raises(HostUnreachable, match="it speaks version 2 of the protocol"):
        async with connect_ssh(Target("lab2"), program=(sys.executable, str(path))):
            pass


async def test_a_machine_that_says_nothing_is_given_up_and_its_ssh_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("STANDIN_LOG", str(log))
    with pytest.raises(HostUnreachable, match="no answer within"):
        async with connect_ssh(Target("silent"), program=PROGRAM, timeout_s=3):
            pass
    pid = int(log.read_text().split("\n")[0])
    assert not _runs(f"/proc/{pid}"), "it was reaped too"


async def test_without_ssh_that_is_said() -> None:
    with pytest.raises(HostUnreachable, match="no-such-ssh cannot be run"):
        async with connect_ssh(Target("lab2"), program=("no-such-ssh",)):
            pass


async def test_a_block_that_is_cancelled_leaves_no_process(
    speaks: tuple[str, str], tmp_path: Path
) -> None:
    with anyio.move_on_after(30) as scope:
        async with connect_ssh(Target("lab2"), program=speaks) as client:
            assert client.hello.seq == 7
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert not _below(tmp_path)


def _runs(process: str) -> bool:
    return Path(process).exists()


def _below(folder: Path) -> list[Path]:
    """The processes whose command names something in this folder."""
    commands = Path("/proc").glob("[0-9]*/cmdline")
    return [path for path in commands if str(folder).encode() in _read(path)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
