"""The client as it is installed: started by its launcher, from cached bytecode."""

from __future__ import annotations

import marshal
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.client.fake_core import PATIENCE_S, PYTHON, Frame, answering, command, listening, run
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import hook_client

LANES = [("gate", None), ("gate-read", None), ("gate-read", ""), ("relay", ""), ("observe", "")]


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.fixture
def places() -> Paths:
    places = paths(os.environ)
    hook_client.write_copy(places)
    hook_client.renew_bytecode(places, Path(PYTHON))
    return places


def alone(path: Path, lane: str, template: str | None) -> list[str]:
    return command(path, lane, "E", "5", *([] if template is None else [template]))


def installed(places: Paths, words: list[str]) -> list[str]:
    return [*words[:3], str(places.client), *words[4:]]


def said(done: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("lane", "template"), LANES)
def test_without_a_core_it_answers_as_the_client_alone(
    path: Path, places: Paths, lane: str, template: str | None
) -> None:
    words = alone(path, lane, template)

    answer = said(run(installed(places, words)))

    assert answer == said(run(words))
    assert answer[0] == (2 if template is None else 0)


@pytest.mark.parametrize(("lane", "template"), LANES)
def test_it_asks_and_copies_the_answer_as_the_client_alone(
    path: Path, places: Paths, lane: str, template: str | None
) -> None:
    words = alone(path, lane, template)
    with listening(path, answering(b'0 15 3\n{"allow": true}why')) as frames:
        alike = [said(run(each, b'{"a":1}')) for each in (words, installed(places, words))]
        sent = [without_time(frames.get(timeout=PATIENCE_S)) for _ in alike]

    assert alike[0] == alike[1]
    assert sent[0] == sent[1]
    if lane != "observe":
        assert alike[0] == (0, b'{"allow": true}', b"why")


def without_time(frame: Frame) -> Frame:
    lines = [re.sub(r"^deadline_ms: \d+$", "deadline_ms: N", line) for line in frame.header]
    return Frame(lines, frame.payload)


def test_it_runs_the_bytecode_that_the_installer_left(path: Path, places: Paths) -> None:
    [bytecode] = hook_client.cached_bytecode(places)
    other = marshal.dumps(compile("print('from bytecode')", "other", "exec"))
    bytecode.write_bytes(hook_client.with_checksum(other))

    done = run(installed(places, command(path, "gate")))

    assert said(done) == (0, b"from bytecode\n", b"")


@pytest.mark.parametrize("left", ["nothing", "bytecode of another interpreter", "no folder"])
def test_without_its_bytecode_it_answers_from_its_source(
    path: Path, places: Paths, left: str
) -> None:
    [bytecode] = hook_client.cached_bytecode(places)
    words = command(path, "gate")
    if left == "bytecode of another interpreter":
        bytecode.rename(bytecode.with_suffix(".ffffffff.pyc"))
    else:
        bytecode.unlink()
    if left == "no folder":
        bytecode.parent.rmdir()
        bytecode.parent.touch()

    assert said(run(installed(places, words))) == said(run(words))


@pytest.mark.parametrize("which", ["client_module", "bytecode"])
def test_what_is_not_whole_is_not_run(path: Path, places: Paths, which: str) -> None:
    [bytecode] = hook_client.cached_bytecode(places)
    file = bytecode if which == "bytecode" else places.client_module
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    done = run(installed(places, command(path, "gate")))

    assert (done.returncode, done.stdout) == (1, b"")
    assert b"ValueError" in done.stderr


@pytest.mark.parametrize(("answer", "code"), [(0, 77), (2, 2), (3, 3), (77, 2)])
def test_its_callers_word_stands_for_a_zero_of_the_core_alone(
    path: Path, places: Paths, answer: int, code: int
) -> None:
    words = [*command(path, "gate", "E", "5", "@", "2", ""), "77"]
    with listening(path, answering(b"%d 0 0\n" % answer)):
        assert run(installed(places, words)).returncode == code


def test_no_file_beside_it_stands_in_for_the_standard_library(path: Path, places: Paths) -> None:
    for name in ("_socket", "encodings", "os", "posix", "site", "socket", "sys", "time"):
        (places.data_dir / f"{name}.py").write_text("raise SystemExit(0)\n")
    words = command(path, "gate")

    assert said(run(installed(places, words))) == said(run(words))


def test_it_reads_nothing_of_pythons_environment(path: Path, places: Paths) -> None:
    elsewhere = places.data_dir / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "watchgate_client.py").write_text("raise SystemExit(0)\n")
    words = command(path, "gate")
    env = {"PYTHONPATH": str(elsewhere), "PYTHONPYCACHEPREFIX": str(elsewhere)}

    assert said(run(installed(places, words), env=env)) == said(run(words))
