from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.client.fake_core import (
    PATIENCE_S,
    TEMPLATE,
    UnderTest,
    answering,
    command,
    hanging_up_after,
    listening,
    run,
)
from watchgate import client

pytestmark = pytest.mark.usefixtures("each_client")


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


def the_closed_answer(done: subprocess.CompletedProcess[bytes], cause: type[Exception]) -> None:
    reason = f"watchgate {client.REASONS[cause]} {client.STOP}"
    assert done.stdout.decode() == TEMPLATE.replace("@", reason, 1)
    assert (done.stderr.decode(), done.returncode) == (f"{reason}\n", 2)


def no_opinion(done: subprocess.CompletedProcess[bytes]) -> None:
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def on_every_lane(path: Path, cause: type[Exception], payload: bytes = b"{}") -> None:
    """The gate denies with its cause, the others have no opinion unless told to deny."""
    # Only a client that waits in vain may come to its deadline.
    deadline_s = "0.5" if cause is TimeoutError else "60"
    the_closed_answer(run(command(path, "gate", "E", deadline_s), payload), cause)
    the_closed_answer(run(command(path, "gate-read", "E", deadline_s), payload), cause)
    no_opinion(run(command(path, "gate-read", "E", deadline_s, ""), payload))
    no_opinion(run(command(path, "relay", "E", deadline_s, ""), payload))
    no_opinion(run(command(path, "observe", "E", deadline_s, ""), payload))


def test_no_socket(path: Path) -> None:
    on_every_lane(path, FileNotFoundError)


def test_no_directory(path: Path) -> None:
    on_every_lane(path.parent / "gone" / "ingest.sock", FileNotFoundError)


def test_a_socket_whose_core_has_died(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    on_every_lane(path, ConnectionRefusedError)


@pytest.fixture
def full(path: Path) -> Iterator[Path]:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen(0)
        while True:
            waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
            waiting.setblocking(False)
            try:
                waiting.connect(str(path))
            except BlockingIOError:
                break
        yield path


def test_a_full_backlog(full: Path) -> None:
    on_every_lane(full, BlockingIOError)


def test_a_directory_that_others_may_enter(path: Path) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        path.parent.chmod(0o770)
        on_every_lane(path, PermissionError)
        assert frames.empty()


def test_a_directory_behind_a_link(path: Path, short_path: Path) -> None:
    link = short_path / "link"
    link.symlink_to(path.parent)
    with listening(path, answering(b"0 0 0\n")) as frames:
        the_closed_answer(run(command(link / path.name, "gate")), PermissionError)
        assert frames.empty()


@pytest.mark.parametrize("mine", ["the socket", "the directory"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_socket_of_somebody_else(path: Path, mine: str) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        os.chown(path.parent if mine == "the socket" else path, 12_345, -1)
        on_every_lane(path, PermissionError)
        assert frames.empty()


def test_something_else_in_the_place_of_the_socket(path: Path) -> None:
    path.touch(0o600)
    on_every_lane(path, PermissionError)


def test_a_core_that_never_answers(path: Path) -> None:
    with listening(path, answering(b"")):
        on_every_lane(path, TimeoutError)


def test_a_core_that_is_stopped_before_it_accepts(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        on_every_lane(path, TimeoutError, b"x" * 1_000_000)


def test_a_hang_up_before_any_answer(path: Path) -> None:
    with listening(path, hanging_up_after(b"")):
        on_every_lane(path, ConnectionError)


@pytest.mark.parametrize("part", [b"0", b"0 4 0", b"0 4 0\n", b"0 4 0\nabc"])
def test_a_hang_up_within_the_answer(path: Path, part: bytes) -> None:
    with listening(path, hanging_up_after(part)):
        the_closed_answer(run(command(path, "gate")), ConnectionError)


def test_a_hang_up_while_the_payload_is_sent(path: Path) -> None:
    def accept_and_close(listener: socket.socket) -> None:
        listener.accept()[0].close()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        words = command(path, "gate")
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(b"x" * 2_000_000)
            process.stdin.close()
            process.stdin = None
            accept_and_close(listener)
            out, err = process.communicate(timeout=PATIENCE_S)
        the_closed_answer(
            subprocess.CompletedProcess(words, process.returncode, out, err), ConnectionError
        )


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b'{"error":"no"}\n',
        b"\n",
        b"x" * 4_000,
        b"0 0\n",
        b"0 0 0 0\n",
        b"256 0 0\n",
        b"-1 0 0\n",
        b"0 -1 1\n",
        b"0 1 -1\n",
        b"0 8388609 0\n",
        b"0 0 0\nmore",
        b"0 0 0x0\n",
        b"0  0 0\n",
        b"0" * 28 + b" 0 0\n",
    ],
)
def test_an_answer_of_another_form(path: Path, answer: bytes) -> None:
    with listening(path, answering(answer)):
        the_closed_answer(run(command(path, "gate")), ValueError)


def test_an_unreadable_stdin(path: Path) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        words = ["sh", "-c", '"$@" <&-', "sh", *command(path, "gate")]
        the_closed_answer(run(words), OSError)
        assert frames.empty()


def test_a_payload_over_the_limit(path: Path) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        payload = b"x" * (client.PAYLOAD_LIMIT_BYTES + 1)
        the_closed_answer(run(command(path, "gate"), payload), OverflowError)
        no_opinion(run(command(path, "relay", "E", "5", ""), payload))
        assert frames.empty()


def test_without_a_core_the_payload_is_read_to_its_end_all_the_same(path: Path) -> None:
    words = command(path, "gate")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdin.write(b"x" * 1_000_000) == 1_000_000
        out, err = process.communicate(timeout=PATIENCE_S)
    the_closed_answer(
        subprocess.CompletedProcess(words, process.returncode, out, err), FileNotFoundError
    )


def test_a_gate_without_a_template_denies_by_stderr_and_exit_code(path: Path) -> None:
    done = run(command(path, "gate", "E", "5", ""))
    assert (done.stdout, done.returncode) == (b"", 2)
    assert b"core is not running" in done.stderr


def test_the_exit_code_may_be_another_where_only_the_json_counts(path: Path) -> None:
    done = run(command(path, "gate", "E", "5", TEMPLATE, "0"))
    assert (done.returncode, b"core is not running" in done.stdout) == (0, True)


def test_a_template_without_a_place_for_the_reason_is_printed_as_it_is(path: Path) -> None:
    assert run(command(path, "gate", "E", "5", '{"x":1}')).stdout == b'{"x":1}'


def test_every_cause_has_a_text_of_its_own_that_no_json_has_to_escape() -> None:
    texts = list(client.REASONS.values())
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert re.fullmatch(r"[A-Za-z0-9 .,;-]+", f"watchgate {text} {client.STOP}")


@pytest.mark.parametrize("lost", range(1, 7))
def test_a_gate_that_lost_its_words_denies(path: Path, lost: int) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        done = run(command(path, "gate")[:-lost])
        assert frames.empty() or lost == 1, "without a deadline nobody is asked"
    if lost > 1:
        assert (done.stdout, done.returncode) == (b"", 2)
        assert b"Run watchgate install" in done.stderr


@pytest.mark.parametrize("code", ["256", "-1", "02", "1e2", "x", "", "9" * 5_000])
def test_what_is_no_exit_code_is_a_denial(path: Path, code: str) -> None:
    assert run(command(path, "gate", "E", "5", TEMPLATE, code)).returncode == 2


@pytest.mark.parametrize("deadline_s", ["", "x", "nan", "inf", "1_0", "0x10", " 10", "1e", "-"])
def test_a_gate_without_a_time_to_wait_for_denies(path: Path, deadline_s: str) -> None:
    with listening(path, answering(b"0 0 0\n")) as frames:
        the_closed_answer(run(command(path, "gate", "E", deadline_s)), ValueError)
        assert frames.empty()


def test_a_template_that_is_no_text_is_printed_as_it_is(path: Path) -> None:
    words = [*map(os.fsencode, command(path, "gate", "E", "5")[:-1]), b"\xff@\xe9"]
    done = subprocess.run(words, input=b"{}", env={}, capture_output=True, timeout=PATIENCE_S)
    assert (done.stdout[:1], done.stdout[-1:], done.returncode) == (b"\xff", b"\xe9", 2)


def beside_a_program(place: Path, program: Path) -> list[str]:
    """What starts the client from a folder with a link to the program that installed it."""
    *before, script = UnderTest.start
    copy = place / Path(script).name
    shutil.copy(script, copy)
    place.joinpath("program").symlink_to(program)
    return [*before, str(copy)]


@pytest.mark.parametrize("has_died", [False, True])
def test_without_its_program_it_says_how_to_take_the_hooks_out(
    path: Path, tmp_path: Path, has_died: bool
) -> None:
    if has_died:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    start = beside_a_program(tmp_path, tmp_path / "gone" / "watchgate")
    reason = f"watchgate {client.GONE.format(tmp_path)} {client.STOP}"
    done = run(command(path, "gate", start=start))
    assert done.stdout.decode() == TEMPLATE.replace("@", reason, 1)
    assert (done.stderr.decode(), done.returncode) == (f"{reason}\n", 2)
    no_opinion(run(command(path, "observe", "E", "60", "", start=start)))


def test_with_its_program_it_says_how_to_start_the_core(path: Path, tmp_path: Path) -> None:
    program = tmp_path / "watchgate"
    program.touch()
    start = beside_a_program(tmp_path, program)
    the_closed_answer(run(command(path, "gate", start=start)), FileNotFoundError)


def test_of_a_core_that_is_there_a_lost_program_says_nothing(path: Path, tmp_path: Path) -> None:
    start = beside_a_program(tmp_path, tmp_path / "gone")
    with listening(path, hanging_up_after(b"0 0")):
        the_closed_answer(run(command(path, "gate", start=start)), ConnectionError)
