"""The client as it is installed: started by its launcher, from cached bytecode."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.fake_core import PATIENCE_S, PYTHON, Frame, answering, command, listening, run
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import client_copy

LANES = [("gate", None), ("gate-read", None), ("gate-read", ""), ("relay", ""), ("observe", "")]


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.fixture
def places() -> Paths:
    places = paths(os.environ)
    client_copy.write(places)
    client_copy.renew_bytecode(places, Path(PYTHON))
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


def test_the_first_run_leaves_bytecode_and_the_second_uses_it(path: Path, places: Paths) -> None:
    cache = client_copy.bytecode_directory(places)
    shutil.rmtree(cache)
    words = installed(places, command(path, "gate"))

    first = run(words)
    [left] = cache.iterdir()
    number = left.stat().st_ino
    second = run([words[0], "-v", *words[1:]])

    assert b"core is not running" in first.stdout
    assert second.stdout == first.stdout
    assert f"code object from '{left}'".encode() in second.stderr
    assert [each.stat().st_ino for each in cache.iterdir()] == [number]


def test_the_installer_spares_even_the_first_run_the_compilation(path: Path, places: Paths) -> None:
    words = installed(places, command(path, "gate"))

    done = run([words[0], "-v", *words[1:]])

    assert b"code object from '%b" % bytes(client_copy.bytecode_directory(places)) in done.stderr


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
