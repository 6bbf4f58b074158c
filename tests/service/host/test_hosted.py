from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.service.desk import payload
from watchgate.core.config.config import Config
from watchgate.link.core_socket import call_once
from watchgate.link.paths import Paths
from watchgate.link.protocol import Request, Result
from watchgate.service.host.core_host import hosted
from watchgate.service.journal import verification as journal_verify
from watchgate.service.system.detached_core import answers
from watchgate.service.system.runtime_dir import CannotServe


@pytest.fixture
def paths(runtime_dir: Path, state_dir: Path) -> Paths:
    return Paths(
        runtime_dir=runtime_dir,
        state_dir=state_dir,
        config=state_dir / "config.toml",
        data_dir=state_dir,
    )


def test_the_core_lives_as_long_as_the_block(paths: Paths) -> None:
    with hosted(paths, Config(profile="strict")):
        assert answers(paths)
        hello = call_once(paths.control_socket, Request(id=1, verb="hello"))
        assert isinstance(hello, Result)
        assert hello.ok["hello"]["profile"] == "strict"
    assert not answers(paths)
    assert journal_verify.verify_journal(paths.journal).problem is None


def test_what_waits_at_the_end_of_the_block_is_answered_closed(paths: Paths) -> None:
    raw = payload("git push --force")
    with socket.socket(socket.AF_UNIX) as hook:
        hook.settimeout(20)
        with hosted(paths, Config()):
            hook.connect(str(paths.ingest_socket))
            hook.sendall(b"watchgate/1 claude gate\nlength: %d\n\n" % len(raw) + raw)
            while not _pending(paths):
                pass
        assert hook.recv(65536).startswith(b"2 ")


def _pending(paths: Paths) -> int:
    answer = call_once(paths.control_socket, Request(id=1, verb="list"))
    assert isinstance(answer, Result)
    return len(answer.ok["requests"])


def test_a_block_that_fails_still_ends_its_core(paths: Paths) -> None:
    with pytest.raises(KeyError), hosted(paths, Config()):
        raise KeyError("the console crashed")
    assert not answers(paths)


def test_a_place_that_is_taken_is_refused_in_words(paths: Paths) -> None:
    with hosted(paths, Config()), pytest.raises(CannotServe, match="already running"):  # noqa: SIM117
        with hosted(paths, Config()):
            pass


def test_a_place_that_is_not_private_is_refused_with_the_mend(paths: Paths) -> None:
    paths.runtime_dir.chmod(0o755)
    with pytest.raises(CannotServe, match="chmod 700"), hosted(paths, Config()):
        pass
