"""A figure that could not be measured is told; a file that fails keeps those of the others."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import checking, reporting
from bench.__main__ import main
from bench.figures import BROKEN, Beside, Figure
from bench.running import LeftOut, Told, measured

FIGURE = Figure("a thing", 1.0, "us", Beside("another", 1.0), 2.0).told()
LEFT_OUT = {"left_out": "the other thing", "why": "there is no cc"}


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Makes every file of figures print these lines and end with this status."""

    def set_up(status: int, *said: dict[str, Any]) -> None:
        lines = "".join(f"echo '{json.dumps(each)}'\n" for each in said)
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{lines}exit {status}\n")
        program.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(program))

    return set_up


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where a report goes; no document is made of it."""
    path = tmp_path / "report.json"
    monkeypatch.setattr(reporting, "REPORT", path)
    monkeypatch.setattr(checking, "REPORT", path)
    monkeypatch.setattr(reporting, "_taken", dict)

    def no_documents(*_command: object, **_how: object) -> None:
        """The figures of this test belong on no page."""

    monkeypatch.setattr("bench.reporting.subprocess.run", no_documents)
    return path


def test_what_cannot_run_here_is_told_with_its_reason(ending: Any) -> None:
    ending(0, LEFT_OUT, FIGURE)
    left_out, figure = measured("ingest", ())

    assert left_out == LeftOut("ingest", "the other thing", "there is no cc")
    assert figure == {"group": "Ingest", "part": "ingest", **FIGURE}


def test_figures_before_a_failure_are_kept(ending: Any) -> None:
    ending(1, FIGURE)
    figure, failed = measured("ingest", ())

    assert figure == {"group": "Ingest", "part": "ingest", **FIGURE}
    assert isinstance(failed, LeftOut)
    assert failed.failed
    assert failed.why == "`python -m bench.ingest` ended with 1"


def test_a_broken_limit_is_no_failure(ending: Any) -> None:
    ending(BROKEN, FIGURE)
    assert len(list(measured("ingest", ()))) == 1


def test_a_report_has_the_other_files_and_says_which_failed(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(name: str, _options: object) -> Iterator[Told | LeftOut]:
        if name == "ingest":
            yield LeftOut(name, "what was left of ingest", "it ended with 1", failed=True)
        else:
            yield {"group": "Dispatch", "part": name, **FIGURE}

    monkeypatch.setattr("bench.__main__.measured", said)
    monkeypatch.setattr(sys, "argv", ["bench", "--report", "ingest", "dispatch"])

    assert main() == 1
    report = json.loads(kept.read_text())
    assert [each["part"] for each in report["figures"]] == ["dispatch"]
    assert report["left_out"] == [
        {"part": "ingest", "name": "what was left of ingest", "why": "it ended with 1"}
    ]


def test_figures_of_another_machine_do_not_stay_where_they_could_not_be_measured(
    kept: Path,
) -> None:
    old = {"group": "Ingest", "part": "ingest", **FIGURE}
    reporting.keep([old], [])
    reporting.keep([], [LeftOut("ingest", "all of it", "there is no cc")])

    assert json.loads(kept.read_text())["figures"] == []


@pytest.mark.usefixtures("kept")
def test_a_check_fails_where_a_file_does_and_looks_at_the_others(
    capsys: pytest.CaptureFixture[str], ending: Any
) -> None:
    ending(1)
    assert checking.run(["ingest", "dispatch"]) == 1

    told = capsys.readouterr().out
    assert "WORSE bench.ingest: `python -m bench.ingest` ended with 1" in told
    assert "WORSE bench.dispatch: `python -m bench.dispatch` ended with 1" in told


@pytest.mark.usefixtures("kept")
def test_a_turn_that_fails_does_not_clear_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Figure("a thing", 9.0, "us", Beside("another", 1.0), 2.0).told()
    turns = iter([False, True, True])

    def said(name: str, _options: object) -> Iterator[Told | LeftOut]:
        if next(turns):
            yield LeftOut(name, "what was left", "it ended with 1", failed=True)
        else:
            yield {"group": "Ingest", "part": name, **slow}

    monkeypatch.setattr(checking, "measured", said)
    assert checking.run(["ingest"]) == 1
