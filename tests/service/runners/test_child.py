"""One child: whatever it does, it is heard, bounded, killed with all it started, and reaped."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.service.runners.hooks import marked, script, survivors, wait_for
from watchgate.service.runners import child
from watchgate.service.runners.child import ChildEnd, run_child
from watchgate.service.runners.child_pool import Cancel
from watchgate.service.runners.spawn import ChildSpec

FOREVER = "sleep 600"
OWN_GROUP = f"""{sys.executable} -IS -c '
import os, time
os.setpgid(0, 0)
open("ready", "w").write("x")
time.sleep(600)' &
until [ -s ready ]; do :; done"""
"""A grandchild in a process group of its own, as a shell with job control makes them."""

OWN_SESSION = OWN_GROUP.replace("os.setpgid(0, 0)", "os.setsid()")
"""A grandchild that has left its session, as a server that is started from a script does."""

DEEP_SESSION = f"(({OWN_SESSION}; wait) & wait) & until [ -s ready ]; do :; done"
"""The same, with two shells between it and the leader."""

AMPLE_S = 60.0
KIB = 1 << 10


@pytest.fixture(params=["told", "polled"], autouse=True)
def exit_seen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel's word on an exit, and on a system that has none."""
    if request.param == "polled":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.fixture(autouse=True)
def gives_descriptors_back(exit_seen: None, tmp_path: Path) -> Any:
    before = sorted(os.listdir("/dev/fd"))  # noqa: PTH208 - its own descriptor is in both lists
    yield
    assert sorted(os.listdir("/dev/fd")) == before  # noqa: PTH208 - as above


def run(
    folder: Path, body: str, limit_s: float = AMPLE_S, cancel: int | None = None, **spec: Any
) -> ChildEnd:
    """Runs a script to its end; nothing of it is alive then."""
    env = marked()
    made = ChildSpec(argv=(script(folder, body),), cwd=str(folder), env=env, **spec)
    end = run_child(made, limit_s, cancel)
    assert survivors(env) == []
    return end


def test_it_is_given_its_input_and_heard(tmp_path: Path) -> None:
    end = run(tmp_path, "cat; echo words >&2; exit 3", stdin=b'{"a":1}')
    assert end == ChildEnd(
        why="exited",
        exit_code=3,
        stdin_bytes=7,
        stdout=b'{"a":1}',
        stderr=b"words\n",
        stdout_size=7,
        stderr_size=6,
    )


def test_without_input_it_reads_an_end_of_file_at_once(tmp_path: Path) -> None:
    assert run(tmp_path, "cat; readlink /proc/$$/fd/0 || echo /dev/null").stdout == b"/dev/null\n"


def test_unheard_it_writes_to_nowhere(tmp_path: Path) -> None:
    end = run(tmp_path, "echo out; echo err >&2; [ ! -p /dev/stdout ]", captures_output=False)
    assert (end.exit_code, end.stdout_size, end.stderr_size) == (0, 0, 0)


def test_its_environment_is_exactly_the_given_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CORE", "x")
    env = {**marked(), "ONE": "1"}
    spec = ChildSpec(argv=("env",), cwd=str(tmp_path), env=env)
    lines = run_child(spec, AMPLE_S).stdout.decode().split()
    assert {line.partition("=")[0] for line in lines} == set(env)


def test_cx_19_a_relative_command_is_found_in_the_sessions_folder(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    script(tmp_path / "hooks", "pwd -P")
    spec = ChildSpec(argv=("./hooks/hook.sh",), cwd=str(tmp_path), env=marked())
    end = run_child(spec, AMPLE_S)
    assert (end.exit_code, end.stdout) == (0, f"{tmp_path.resolve()}\n".encode())


def test_cx_18_full_outputs_on_both_sides_stop_nobody(tmp_path: Path) -> None:
    flood = "head -c 1000000 /dev/zero"
    end = run(tmp_path, f"{flood} & {flood} >&2; wait")
    assert (end.exit_code, end.stdout_size, end.stderr_size) == (0, 1_000_000, 1_000_000)


def test_sa_b1_stderr_may_be_filled_before_stdout(tmp_path: Path) -> None:
    end = run(tmp_path, "head -c 300000 /dev/zero >&2; echo out")
    assert (end.exit_code, end.stdout, end.stderr_size) == (0, b"out\n", 300_000)


def test_cx_b10_output_before_reading_the_input_stops_nobody(tmp_path: Path) -> None:
    text = b"x" * (1 << 20)
    end = run(tmp_path, "head -c 300000 /dev/zero; cat", stdin=text, stdout_cap_bytes=4 << 20)
    assert (end.exit_code, end.stdin_bytes) == (0, len(text))
    assert end.stdout == b"\0" * 300_000 + text


def test_sa_b2_a_flood_is_drained_to_its_end_and_kept_head_and_tail(tmp_path: Path) -> None:
    body = "echo first; head -c 10485760 /dev/zero; echo last"
    end = run(tmp_path, body, stdout_cap_bytes=4 * KIB)
    assert end.exit_code == 0
    assert end.stdout_size == 10_485_760 + len("first\nlast\n")
    assert len(end.stdout) == 4 * KIB
    assert end.stdout.startswith(b"first\n")
    assert end.stdout.endswith(b"\0last\n")


def test_cx_16_a_child_that_closes_its_input_early_still_counts(tmp_path: Path) -> None:
    end = run(tmp_path, "exec 0<&-; echo heard; exit 2", stdin=b"x" * (1 << 20))
    assert (end.why, end.exit_code, end.stdout) == ("exited", 2, b"heard\n")
    assert end.stdin_bytes < 1 << 20


@pytest.mark.parametrize("name", ["SEGV", "KILL", "TERM"])
def test_a_signal_is_named(tmp_path: Path, name: str) -> None:
    end = run(tmp_path, f"kill -{name} $$; {FOREVER}")
    assert (end.why, end.exit_code, end.signal) == ("exited", None, f"SIG{name}")


@pytest.mark.parametrize(
    "body",
    [
        FOREVER,
        f"{FOREVER} & {FOREVER} & wait",
        f"exec >&- 2>&-; {FOREVER}",
        f"trap '' TERM HUP INT; {FOREVER} & {FOREVER}",
        "while :; do echo flood; done",
        f"cat >/dev/null; {FOREVER}",
        f"{OWN_GROUP}; {FOREVER}",
        f"{OWN_SESSION}; {FOREVER}",
        f"{DEEP_SESSION}; {FOREVER}",
    ],
    ids=[
        "sleeps",
        "waits",
        "closed its outputs",
        "ignores signals",
        "floods",
        "read its input",
        "has groups of its own",
        "has a session of its own",
        "has one further down",
    ],
)
def test_sa_b3_a_child_whose_time_is_up_is_killed_with_all_it_started(
    tmp_path: Path, body: str
) -> None:
    end = run(tmp_path, body, limit_s=0.5, stdin=b"x" * 100_000)
    assert (end.why, end.exit_code, end.signal) == ("timeout", None, "")


@pytest.mark.parametrize("other", [f"{FOREVER} &", OWN_GROUP], ids=["in its group", "in its own"])
def test_cx_b11_a_grandchild_that_holds_the_pipe_is_killed_and_holds_nobody_up(
    tmp_path: Path, other: str
) -> None:
    end = run(tmp_path, f"{other}\necho said; exit 2")
    assert (end.why, end.exit_code, end.stdout) == ("exited", 2, b"said\n")


def test_what_a_grandchild_still_writes_after_the_exit_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "LINGER_S", AMPLE_S)
    end = run(tmp_path, "(sleep 0.1; echo late) & echo said; exit 0")
    assert (end.exit_code, end.stdout) == (0, b"said\nlate\n")


def test_core_8_a_proper_exit_leaves_nothing_behind_either(tmp_path: Path) -> None:
    assert run(tmp_path, f"{FOREVER} >/dev/null 2>&1 & exit 0").exit_code == 0


def test_cx_14_a_child_that_closed_its_outputs_has_only_a_grace_to_exit(tmp_path: Path) -> None:
    end = run(tmp_path, f"echo bye; exec >&- 2>&-; {FOREVER}", exit_grace_s=0.1)
    assert (end.why, end.exit_code, end.stdout) == ("timeout", None, b"bye\n")
    assert end.detail == "it closed its outputs and did not exit within 0.1 s"


def test_a_child_that_closed_its_outputs_may_exit_as_it_likes(tmp_path: Path) -> None:
    assert run(tmp_path, "exec >&- 2>&-; exit 7", exit_grace_s=AMPLE_S).exit_code == 7


def test_nobody_wants_it_any_more(tmp_path: Path) -> None:
    cancel = Cancel()

    def once_it_runs() -> None:
        wait_for(tmp_path / "up")
        cancel.set()

    other = threading.Thread(target=once_it_runs)
    other.start()
    end = run(tmp_path, f"{FOREVER} & echo up >up; {FOREVER}", cancel=cancel.fd)
    other.join()
    cancel.close()
    cancel.set()
    assert (end.why, end.exit_code) == ("cancelled", None)


@pytest.mark.parametrize("other", [OWN_SESSION, DEEP_SESSION], ids=["child", "further down"])
def test_core_8_a_descendant_with_a_session_of_its_own_does_not_survive(
    tmp_path: Path, other: str
) -> None:
    cancel = Cancel()

    def once_it_runs() -> None:
        wait_for(tmp_path / "ready")
        cancel.set()

    waits = threading.Thread(target=once_it_runs)
    waits.start()
    end = run(tmp_path, f"{other}\n{FOREVER}", cancel=cancel.fd)
    waits.join()
    cancel.close()
    assert end.why == "cancelled"


def test_the_leader_is_reaped(tmp_path: Path) -> None:
    pid = int(run(tmp_path, "echo $$").stdout)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)


def test_a_child_that_cannot_be_reaped_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "REAP_S", 0.01)
    stuck: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda pid, _signal: stuck.append(pid))
    spec = ChildSpec(argv=("sleep", "600"), cwd=str(tmp_path), env=marked())
    with pytest.warns(ResourceWarning, match="still running"):
        end = run_child(spec, 0.1)
    assert (end.why, end.exit_code) == ("timeout", None)
    os.kill(stuck[0], 9)
    os.waitpid(stuck[0], 0)
