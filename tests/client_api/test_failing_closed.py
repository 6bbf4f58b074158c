"""Nothing but the core's own word lets a call run, whatever else is at the other end."""

from __future__ import annotations

import functools
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.client_api import Answer, AsyncGate, Denied, Gate
from watchgate.client_api.calls import Call
from watchgate.client_api.core_dialog import STOP, CallQuestion, Speaker, read
from watchgate.link.paths import paths
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

Ask = Callable[..., Answer]


def ask_sync(**more: Any) -> Answer:
    return Gate("etl", "s1").ask("Bash", {"command": "make"}, tool_class="shell", **more)


def ask_async(**more: Any) -> Answer:
    async def ask() -> Answer:
        gate = AsyncGate("etl", "s1")
        return await gate.ask("Bash", {"command": "make"}, tool_class="shell", **more)

    return anyio.run(ask)


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    asking: Ask = request.param
    return asking


@contextmanager
def core_that_says(*replies: bytes, hangs: bool = False) -> Iterator[None]:
    """Whatever listens in the core's place: it reads a line and says this."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(paths(os.environ).ingest_socket))
        listener.listen()
        done = threading.Event()

        def serve() -> None:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            with connection:
                asked = connection.makefile("rb").readline()
                for reply in replies:
                    connection.sendall(
                        reply.replace(b"ID", msgspec.json.decode(asked)["id"].encode())
                    )
                if hangs:
                    done.wait(60)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            done.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def refused(answer: Answer, says: str) -> None:
    assert not answer.may_run
    assert (answer.decision, answer.answered) == ("deny", False)
    assert says in answer.reason
    assert answer.reason.endswith(STOP)


def test_without_a_core_the_call_is_denied_with_the_mend(ask: Ask) -> None:
    refused(ask(), "Start it with `watchgate serve`")


def test_a_socket_that_is_left_over_denies(ask: Ask) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(paths(os.environ).ingest_socket))
    refused(ask(), "nobody listens")


def test_a_core_that_takes_no_more_connections_denies_at_once(ask: Ask) -> None:
    path = str(paths(os.environ).ingest_socket)
    with ExitStack() as held:
        listener = held.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        listener.listen(0)
        for _ in range(8):
            waiting = held.enter_context(socket.socket(socket.AF_UNIX))
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(path)
        refused(ask(), "its queue of connections is full")


def test_a_directory_that_others_can_enter_denies(ask: Ask, runtime_dir: Path) -> None:
    with core_that_says(b'{"id":"ID","decision":"allow"}\n'):
        runtime_dir.chmod(0o755)
        refused(ask(), "can be entered by others")


def test_a_plain_file_in_the_place_of_the_socket_denies(ask: Ask, runtime_dir: Path) -> None:
    (runtime_dir / "ingest.sock").touch()
    refused(ask(), "not a socket")


@pytest.mark.parametrize(
    "reply",
    [
        b"allow\n",
        b"{}\n",
        b'{"id":"ID"}\n',
        b'{"id":"ID","decision":"yes"}\n',
        b'{"id":"other","decision":"allow"}\n',
        b'{"id":"ID","decision":"handback","input":{"command":"rm -rf /"}}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_an_answer_of_another_form_denies(ask: Ask, reply: bytes) -> None:
    with core_that_says(reply):
        assert not ask().may_run


@pytest.mark.parametrize("half", [b"", b'{"id":"ID","decision":"allow"}'])
def test_a_core_that_goes_away_denies_even_half_way_through_an_allow(ask: Ask, half: bytes) -> None:
    with core_that_says(half):
        refused(ask(), "went away before it answered")


def test_silence_denies_at_the_deadline(ask: Ask) -> None:
    with core_that_says(b"", hangs=True):
        refused(ask(deadline_s=0.05), "Nobody answered in 0.05 s")


def test_what_is_too_large_to_be_judged_is_denied(ask: Ask) -> None:
    answer = Gate("etl", "s1").ask("Bash", {"command": "x" * (5 << 20)}, tool_class="shell")
    refused(answer, "over 4 MiB")


def test_a_denied_call_never_runs() -> None:
    with pytest.raises(Denied, match="watchgate serve"), Gate("etl").tool_call("Bash", {}):
        raise AssertionError("it ran")


def test_what_is_judged_is_what_runs_whatever_becomes_of_the_argument() -> None:
    args: dict[Any, Any] = {"argv": ("make", ["-j"]), 7: "seven"}
    speaker = Speaker("etl", "s1", "/", None, SystemClock())
    asked = speaker.asked("run", args, "other", None, 5.0)
    args["argv"][1].append("install")
    assert asked.input == {"argv": ["make", ["-j"]], "7": "seven"}
    assert msgspec.json.decode(speaker.question(asked))["input"] == asked.input


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("cannot be told")


@pytest.mark.parametrize("fault", [Unspeakable(), OSError("caf\udce9"), OSError("x" * (5 << 20))])
def test_however_a_call_failed_it_can_be_reported(fault: Exception) -> None:
    asked = CallQuestion(tool="run", input={}, tool_class="other", call_id="c", deadline_s=1.0)
    call = Call(asked, Answer(decision="allow", input={}))
    fields = call.ended(fault, 1.0)
    assert fields["kind"] == "tool.error"
    assert type(fault).__name__ in fields["text"]
    line = Speaker("etl", "s1", "/", None, SystemClock()).report("tool.error", fields)
    assert len(line) < MAX_PAYLOAD_BYTES


@given(st.binary(max_size=200))
def test_no_bytes_but_an_answer_to_this_very_question_let_it_run(line: bytes) -> None:
    assert not read(line, "q1", {"command": "make"}).may_run


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["q1", "q2", 1, None]),
            "decision": st.sampled_from(["allow", "deny", "handback", "Allow", "", None, True]),
            "input": st.sampled_from([None, {}, {"command": "ls"}, [], "x"]),
            "reason": st.sampled_from(["", "no", 3]),
        },
    )
)
def test_an_answer_lets_it_run_exactly_when_it_says_so_to_this_question(said: Any) -> None:
    answer = read(msgspec.json.encode(said), "q1", {"command": "make"})
    sound = said.get("reason", "") != 3 and said.get("input") not in ([], "x")
    allowed = said.get("decision") == "allow"
    handed_back = said.get("decision") == "handback" and said.get("input") is None
    assert answer.may_run == (sound and said.get("id") == "q1" and (allowed or handed_back))
    if allowed and answer.may_run and said.get("input") is not None:
        assert answer.input == said["input"]


def nested(levels: int) -> dict[str, Any]:
    return functools.reduce(lambda inner, _: {"a": inner}, range(levels), {})


@pytest.mark.parametrize(
    ("args", "more"),
    [
        ({"command": object()}, {}),
        ({"command": b"rm -rf /"}, {}),
        ({"limit": float("nan")}, {}),
        ("make", {}),
        (nested(100_000), {}),
        ({"command": "make"}, {"tool_class": "bash"}),
        ({"command": "make"}, {"deadline_s": 0}),
        ({"command": "make"}, {"deadline_s": float("nan")}),
    ],
)
def test_what_nobody_could_be_asked_about_is_an_error_before_anything_runs(
    args: dict[str, Any], more: dict[str, Any]
) -> None:
    with pytest.raises((ValueError, TypeError)):
        Gate("etl").ask("Bash", args, **more)


def test_a_report_without_a_core_says_so_and_fails_nothing() -> None:
    assert not Gate("etl").report("message", text="hello")
    assert not Gate("etl").report("message", text="x" * (5 << 20))
    with pytest.raises(ValueError, match="kind is one of"):
        Gate("etl").report("massage", text="hello")  # type: ignore[arg-type]  # a misspelt kind
