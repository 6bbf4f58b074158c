from __future__ import annotations

import re
from pathlib import Path

import msgspec

from watchgate.core.config.config import Config, load
from watchgate.core.config.config_sections import first_sink_fault
from watchgate.core.dispatch.handler_config import SinkConfig
from watchgate.service.sinks.sink_types import build_sink

TEXT = (Path(__file__).parents[3] / "docs" / "sinks.md").read_text()
EXAMPLE = "".join(re.findall(r"^    (.*\n)", TEXT, re.MULTILINE))
KEYS = TEXT.partition("| key | means |\n")[2].partition("\n\n")[0]


def test_cw_b9_the_documented_example_is_read_as_it_is_written() -> None:
    config = load(EXAMPLE, "docs/sinks.md")
    assert [(sink.type, sink.path or sink.url) for sink in config.sink] == [
        ("jsonl", "~/watchgate-events.jsonl"),
        ("unix-socket", "/run/user/1000/board/board.sock"),
        ("webhook", "https://example.org/agents"),
        ("stdout", None),
    ]
    assert msgspec.convert(msgspec.to_builtins(config), Config) == config


def test_every_sink_of_the_documented_example_can_be_built() -> None:
    sinks = load(EXAMPLE, "docs/sinks.md").sink
    assert first_sink_fault(sinks, stdout_is_free=True) is None
    assert len({build_sink(sink, index).name for index, sink in enumerate(sinks)}) == 4


def test_every_key_of_a_sink_is_documented() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", KEYS, re.MULTILINE)
    assert set(documented) == set(SinkConfig.__struct_fields__)
