"""The agents of a user's own: from files, and from packages that the configuration names."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.agents.tables import HAL
from tests.service.foreign import FAULTY, GOOD, install
from tests.service.host.test_core_host import Place
from tests.service.wire_frames import rest
from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config import AgentsSection, Config
from watchgate.link.paths import Paths
from watchgate.service.host.core_host import CoreHost
from watchgate.service.system.system_clock import FakeClock
from watchgate.service.wire.agent_adapters import AgentsError, adapters

CRASHING = (
    GOOD
    + """
    def closed(self, native, lane, reason):
        return msgspec.structs.replace(super().closed(native, lane, reason), exit_code=49)
"""
)
NAMED = Config(agents=AgentsSection(python=("nova",)))
TEXT = """
name = "nova"
title = "Nova"
[events.before]
kind = "tool.pre"
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "run", tmp_path / "state", tmp_path / "config.toml", tmp_path / "data")


def written(paths: Paths, text: str, name: str = "nova.toml") -> Path:
    folder = paths.config.with_name("agents.d")
    folder.mkdir(exist_ok=True, mode=0o700)
    file = folder / name
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_without_files_and_names_there_are_the_built_in_ones(paths: Paths) -> None:
    assert adapters(paths, Config()) is ADAPTERS


def test_a_file_adds_its_agent_to_the_built_in_ones(paths: Paths) -> None:
    written(paths, TEXT)
    written(paths, "not read", "nova.toml.bak")

    known = adapters(paths, Config())

    assert known["nova"].title == "Nova"
    assert set(known) == {*ADAPTERS, "nova"}
    assert "nova" not in ADAPTERS


def test_a_package_is_loaded_only_where_the_configuration_names_it(
    paths: Paths, site: Path
) -> None:
    install(site, GOOD)

    assert "nova" not in adapters(paths, Config())
    assert "nova_package" not in sys.modules
    assert adapters(paths, NAMED)["nova"].title == HAL.title
    assert "nova_package" in sys.modules


@pytest.mark.parametrize(
    ("code", "names", "told"),
    [
        (GOOD, "other = nova_package:Nova", r"names 'nova', but no installed package.*are: other"),
        ("raise OSError('x')", "nova = nova_package:Nova", "cannot be loaded: OSError"),
        ("", "nova = nova_package:Nova", "cannot be loaded: AttributeError"),
        ("Nova = 7", "nova = nova_package:Nova", "is no adapter, it lacks name, can, decode"),
        (
            GOOD.replace('name="nova"', 'name="hal"'),
            "nova = nova_package:Nova",
            "another name than its entry point",
        ),
        (
            CRASHING,
            "nova = nova_package:Nova",
            "with exit status 49, which its installed hook takes for a crash",
        ),
    ],
)
def test_a_package_that_is_no_adapter_is_refused(
    paths: Paths, site: Path, code: str, names: str, told: str
) -> None:
    install(site, code, names)

    with pytest.raises(AgentsError, match=told):
        adapters(paths, NAMED)


def test_a_name_stands_for_one_agent(paths: Paths, site: Path) -> None:
    install(site, GOOD)
    written(paths, TEXT)

    with pytest.raises(AgentsError, match=r"'nova' is taken by .*nova\.toml"):
        adapters(paths, NAMED)


def test_a_file_that_is_no_text_says_so(paths: Paths) -> None:
    written(paths, TEXT).write_bytes(b"\xff")

    with pytest.raises(AgentsError, match="no UTF-8"):
        adapters(paths, Config())


@pytest.mark.parametrize("where", ["decode", "answer", "nonsense"])
async def test_a_fault_in_foreign_code_denies_the_call_that_met_it(
    runtime_dir: Path, state_dir: Path, site: Path, where: str
) -> None:
    install(site, FAULTY)
    place = Place(runtime_dir, state_dir)
    place.host = CoreHost(place.paths, NAMED, FakeClock(place.clock.now()))
    async with place.running():
        met, later = [await told(place, command) for command in (where, "make")]

    if where == "nonsense":
        assert met == b""  # the client then denies by itself
    else:
        assert met.startswith(b"2 0 ")
        assert b"internal error" in met
        assert b"a bug" not in met
    assert later == b"0 0 0\n"


async def told(place: Place, command: str) -> bytes:
    """What a core answers Nova's hook client about a call that the policy hands back."""
    call = {"name": "sh", "args": {"command": command}}
    raw = msgspec.json.encode({"type": "before", "ship": {"id": "s"}, "call": call})
    head = f"watchgate/1 nova gate\nlength: {len(raw)}\nevent: before\n\n".encode()
    # A call that is held would wait for ever: this core's clock stands still.
    with anyio.fail_after(20):
        async with await anyio.connect_unix(place.paths.ingest_socket) as stream:
            await stream.send(head + raw)
            return await rest(stream)
