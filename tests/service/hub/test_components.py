"""What the configuration asks for is made, or refused with the mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config import load
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.verdicts import Allow
from watchgate.link.paths import Paths
from watchgate.service.hub.components import (
    ComponentError,
    Components,
    build_components,
    config_warnings,
)
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.handler_runner import CallableRunner

HANDLER = """
[[handler]]
id = "guard"
on = ["tool.pre"]
command = ["./guard.sh"]
"""


@pytest.fixture
def places(runtime_dir: Path, state_dir: Path) -> Paths:
    return Paths(
        runtime_dir=runtime_dir,
        state_dir=state_dir,
        config=state_dir / "config.toml",
        data_dir=state_dir,
    )


def made(text: str, places: Paths, *, prints: bool = False) -> Components:
    own = Handler(id="own", on=frozenset({"tool.pre"}))
    return build_components(
        load(text, "config.toml"),
        places,
        {"PATH": "/bin"},
        ChildPool(),
        prints=prints,
        own=[(own, CallableRunner(lambda _: Allow()))],
    )


def manifest(folder: Path, **more: object) -> Path:
    folder.mkdir(parents=True)
    path = folder / "manifest.json"
    wants = {
        "protocol_version": 1,
        "runtime": "process",
        "command": "python3",
        "permissions": ["tools.intercept"],
        "hooks": [{"hook": "before_tool_call"}],
        **more,
    }
    path.write_text(json.dumps(wants))
    return path


def test_every_handler_has_what_runs_it_in_the_order_of_the_configuration(places: Paths) -> None:
    equipment = made(HANDLER, places)
    assert [each.id for each in equipment.handlers] == ["own", "guard"]
    assert equipment.runners.keys() == {"own", "guard"}


def test_a_relative_manifest_lies_beside_the_configuration(places: Paths) -> None:
    manifest(places.config.parent / "auditor")
    text = '[[extension]]\nid = "auditor"\nmanifest = "auditor/manifest.json"\n'
    equipment = made(f'{text}permissions = ["tools.intercept"]\n', places)
    assert [each.id for each in equipment.extensions] == ["auditor"]
    assert [each.id for each in equipment.handlers] == ["own", "auditor"]


def test_sy_2_a_permission_that_is_not_granted_is_named_with_extension_and_hook(
    places: Paths,
) -> None:
    manifest(places.config.parent / "auditor")
    text = '[[extension]]\nid = "auditor"\nmanifest = "auditor/manifest.json"\n'
    with pytest.raises(ComponentError) as refused:
        made(text, places)
    for word in ("auditor", "tools.intercept", "before_tool_call"):
        assert word in str(refused.value)


def test_a_manifest_that_is_not_there_is_named_with_the_mend(places: Paths) -> None:
    with pytest.raises(ComponentError, match="cannot be read"):
        made('[[extension]]\nid = "a"\nmanifest = "/none/manifest.json"\n', places)


def test_a_fault_beside_the_configuration_names_the_line_that_leads_to_it(places: Paths) -> None:
    folder = places.config.parent
    manifest(folder / "broken", hooks=[])
    long = "/tmp/" + "x" * 200
    entries = {
        'id = "a"\nmanifest = "/none/manifest.json"': ("extension", 5),
        'id = "a"\nmanifest = "broken/manifest.json"': ("extension", 3),
        f'type = "unix-socket"\npath = "{long}"': ("sink", 5),
        f'type = "unix-socket"\npath = "{places.ingest_socket}"': ("sink", 5),
    }
    for keys, (table, line) in entries.items():
        text = f'profile = "guard"\n\n[[{table}]]\n{keys}\n'
        places.config.write_text(text)
        with pytest.raises(ComponentError) as refused:
            made(text, places)
        assert str(refused.value).startswith(f"{places.config}:{line}: ")


def test_cw_15_standard_output_is_refused_where_it_is_not_the_cores(places: Paths) -> None:
    sink = '[[sink]]\ntype = "stdout"\n'
    with pytest.raises(ComponentError):
        made(sink, places)
    assert len(made(sink, places, prints=True).sinks) == 1


def test_a_sink_that_would_feed_the_core_with_its_own_records_is_refused(places: Paths) -> None:
    with pytest.raises(ComponentError):
        made(f'[[sink]]\ntype = "unix-socket"\npath = "{places.ingest_socket}"\n', places)


def test_a_key_that_does_nothing_is_warned_of() -> None:
    text = f"[dispatch]\ntotal_timeout_s = 9\n{HANDLER}timeout_s = 10\n"
    (warning,) = config_warnings(load(text, "c"), ADAPTERS)
    assert "timeout_s = 10 is never reached" in warning
    assert not config_warnings(load(HANDLER, "c"), ADAPTERS)


def test_cx_b14_an_event_that_the_agent_never_sends_is_warned_of() -> None:
    text = HANDLER.replace("tool.pre", "message") + 'match = { agent = "codex" }\n'
    (warning,) = [
        each for each in config_warnings(load(text, "c"), ADAPTERS) if "never sends" in each
    ]
    assert "codex never sends message" in warning
    assert not config_warnings(load(HANDLER + 'match = { agent = "codex" }\n', "c"), ADAPTERS)


def test_cx_b14_an_event_that_the_protocol_does_not_know_is_warned_of() -> None:
    text = HANDLER.replace("tool.pre", "usage") + 'protocol = "codex-fork-v1"\n'
    warned = config_warnings(load(text, "c"), ADAPTERS)
    assert any("codex-fork-v1 has no event for usage" in each for each in warned)
