"""The doctor tries the whole way to a running core, and leaves nothing that is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.e2e.programs import until
from watchgate.cli.base.printing import Exit
from watchgate.core.config.config import Config
from watchgate.core.model.records import Record
from watchgate.link.core_socket import call_once
from watchgate.link.paths import paths
from watchgate.link.protocol import Refusal, Request
from watchgate.service.host.core_host import hosted
from watchgate.service.hub.core_environment import real_environment
from watchgate.service.journal import journal_reader
from watchgate.service.system import off_switch


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no agent's own program is asked
    assert cli("install", "claude", "codex").code == Exit.DONE


@pytest.fixture
def core() -> Iterator[Core]:
    places = paths(os.environ)
    with hosted(places, Config(), environment=real_environment(places)):
        yield Core(places)


def picture(core: Core) -> dict[str, Any]:
    """What a console is shown when it attaches, but for the number of the newest record."""
    answer = call_once(core.paths.control_socket, Request(id=1, verb="attach", observer=True))
    assert not isinstance(answer, Refusal)
    taken: dict[str, Any] = answer.ok["snapshot"]
    return {name: value for name, value in taken.items() if name not in ("seq", "at", "now")}


def probes(core: Core) -> list[Record]:
    records = journal_reader.read(core.paths.journal, 1, 1_000)
    return [each for each in records if each.data.get("native") == "doctor.probe"]


def test_nothing_of_it_is_shown_and_the_journal_says_what_it_was(cli: Cli, core: Core) -> None:
    before = picture(core)

    found = {line["check"]: line for line in cli("doctor", "claude", "codex", "--json").lines}

    for agent in ("claude", "codex"):
        told = found[f"{agent}: gate answers"]
        assert (told["status"], "the core answered" in told["text"]) == ("ok", True)
    assert "the core answered" in found["claude: gate-read answers"]["text"]
    until(lambda: len(probes(core)) >= 3, "the probes")
    lanes = probes(core)
    assert {(each.agent, each.session, each.call, each.request) for each in lanes} == {(None,) * 4}
    assert picture(core) == before
    assert cli("ls", "--sessions").out == "no session was seen\n"
    assert cli("ls").out == "nothing pending\n"
    (status,) = cli("status", "--json").lines
    assert (status["sessions"], status["pending"]) == (0, 0)


def test_with_a_core_and_trusted_hooks_all_is_well(cli: Cli, core: Core) -> None:
    said = cli("doctor", "claude")

    assert said.code == Exit.DONE
    assert "ok    claude: " in said.out
    assert "mend: " not in said.out.splitlines()[-1]
    assert cli("doctor", "claude", "codex").code == Exit.REFUSED, "nobody trusted those of Codex"


def test_while_the_gate_is_off_it_leaves_nothing_either(cli: Cli, core: Core) -> None:
    off_switch.write_switch(core.paths.off, None)
    before = picture(core)

    cli("doctor", "claude", "codex")

    until(lambda: len(probes(core)) >= 3, "the probes")
    assert picture(core) == before
