"""Finding agents that still run with their old hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from watchgate.agents.registry import ADAPTERS
from watchgate.service.setup.running_agents import process_names, running_agents


def process(proc: Path, pid: int, *argv: str) -> None:
    directory = proc / str(pid)
    directory.mkdir(parents=True)
    (directory / "cmdline").write_bytes(b"\0".join(map(str.encode, argv)) + b"\0")
    (directory / "cwd").symlink_to("/home/dev/shop")


def test_programs_and_their_interpreters_are_told_by_name(tmp_path: Path) -> None:
    process(tmp_path, 20, "/usr/lib/claude", "-p", "codex")
    process(tmp_path, 3, "node", "/usr/bin/codex", "exec")
    process(tmp_path, 4, "node", "/app/server.js", "codex")
    process(tmp_path, 5, "vim", "claude")
    process(tmp_path, 6, "")
    (tmp_path / "7").mkdir()

    found = running_agents([ADAPTERS["claude"], ADAPTERS["codex"]], tmp_path)

    assert [(each.agent, each.pid, each.cwd) for each in found] == [
        ("codex", 3, "/home/dev/shop"),
        ("claude", 20, "/home/dev/shop"),
    ]


def test_only_the_agents_that_were_asked_for_are_named(tmp_path: Path) -> None:
    process(tmp_path, 20, "claude")

    assert running_agents([ADAPTERS["codex"]], tmp_path) == []
    assert running_agents([ADAPTERS["claude"]], tmp_path / "none") == []


@pytest.mark.parametrize(
    "host",
    [
        (),
        ("node",),
        ("/usr/bin/node", "--no-warnings", "--max-old-space-size=4096"),
        ("bun",),
        ("python3.12", "-I"),
    ],
)
@pytest.mark.parametrize("agent", INSTALLABLE)
def test_every_agent_is_found_whatever_runs_it(
    tmp_path: Path, agent: str, host: tuple[str, ...]
) -> None:
    name = process_names(ADAPTERS[agent])[0]
    process(tmp_path, 9, *host, f"/opt/bin/{name}", "--resume")

    [found] = running_agents([ADAPTERS[agent]], tmp_path)

    assert (found.agent, found.pid) == (agent, 9)
