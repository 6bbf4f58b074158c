"""The start of a run of a core: what it knows of the run before, and what a console is told."""

from __future__ import annotations

from pathlib import Path

from tests.core.builders import START
from tests.service.host.test_core_host import Place
from watchgate.link.control_client import connect
from watchgate.service.system import off_switch


async def test_a_gate_that_stays_off_is_known_to_the_next_core(
    place: Place, runtime_dir: Path, state_dir: Path
) -> None:
    off_switch.write_switch(place.paths.off, START.wall_us // 1_000_000 + 600)
    async with place.running():
        pass
    async with Place(runtime_dir, state_dir).running():
        pass
    what = [each.data["what"] for each in place.records() if each.kind == "policy.off"]
    assert what == ["the gate was found switched off", "the gate is still switched off"]


async def test_a_console_is_told_the_titles_of_agents(place: Place) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        snapshot = await client.attach()
    assert snapshot.titles["claude"] == "Claude"
    assert snapshot.titles["codewhale"] == "CodeWhale"
