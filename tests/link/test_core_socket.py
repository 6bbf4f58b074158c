from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.link.fake_core import Conversation, fake_core
from watchgate.link.control_lines import CoreLost, NoCore
from watchgate.link.core_socket import call_once
from watchgate.link.protocol import Push, Refusal, Request, Result

REQUEST = Request(id=4, verb="show", request="abcd")


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "control.sock"


def test_one_question_gets_its_answer(path: Path) -> None:
    def script(core: Conversation) -> None:
        assert core.hear()["request"] == "abcd"
        core.say(Push(gap=(1, 2)), Result(id=3), Result(id=4, ok={"summary": "ls"}))

    with fake_core(path, script):
        assert call_once(path, REQUEST) == Result(id=4, ok={"summary": "ls"})


def test_a_refusal_is_an_answer(path: Path) -> None:
    refusal = Refusal(id=4, refused="unknown_id", message="no request begins with abcd")

    def script(core: Conversation) -> None:
        core.hear()
        core.say(refusal)

    with fake_core(path, script):
        assert call_once(path, REQUEST) == refusal


def test_nobody_there_is_no_core(path: Path) -> None:
    with pytest.raises(NoCore, match="there is no socket"):
        call_once(path, REQUEST)


def test_a_core_that_hangs_before_its_greeting_is_no_core(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(path))
        hung.listen()
        with pytest.raises(NoCore, match="did not greet"):
            call_once(path, REQUEST, timeout_s=0.05)


def test_a_stranger_at_the_socket_is_no_core(path: Path) -> None:
    with (
        fake_core(path, lambda core: None, greeting=b"220 smtp\n"),
        pytest.raises(NoCore, match="cannot read"),
    ):
        call_once(path, REQUEST)


def test_a_core_that_leaves_without_an_answer_is_lost(path: Path) -> None:
    with fake_core(path, Conversation.hear), pytest.raises(CoreLost, match="closed the connection"):
        call_once(path, REQUEST)


def test_a_core_that_never_answers_is_lost(path: Path) -> None:
    with (
        fake_core(path, Conversation.wait_for_hang_up),
        pytest.raises(CoreLost, match="no answer within"),
    ):
        call_once(path, REQUEST, timeout_s=1.0)
