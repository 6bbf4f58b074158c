"""Every key of the configuration stands in the documentation, and its example loads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.config.config import Config, load
from watchgate.core.config.config_sections import EscalationConfig, PriceConfig
from watchgate.core.dispatch.handler_config import (
    ExtensionConfig,
    HandlerConfig,
    MatchConfig,
    SinkConfig,
)

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def example() -> str:
    (found,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(found)


def keys(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)}


def test_cw_b9_the_documented_example_loads_and_keeps_every_table() -> None:
    config = load(example(), "configuration.md")
    assert [len(config.handler), len(config.extension), len(config.sink)] == [1, 1, 2]
    assert len(config.escalation) == 2
    assert [each.model for each in config.price] == ["house-model-1"]
    defaults = Config()
    for name in ("profile", "approval", "dispatch", "agents", "policy", "journal", "costs", "ui"):
        assert getattr(config, name) == getattr(defaults, name), f"{name} is not the default"


def test_sa_b9_every_key_is_reachable_from_the_file_and_documented() -> None:
    text = example()
    nested: list[Any] = [
        Config,
        HandlerConfig,
        MatchConfig,
        ExtensionConfig,
        SinkConfig,
        EscalationConfig,
        PriceConfig,
    ]
    tables = ("approval", "dispatch", "agents", "policy", "journal", "costs", "ui")
    nested += [type(getattr(Config(), name)) for name in tables]
    missing = [key for kind in nested for key in keys(kind) if not re.search(rf"\b{key}\b", text)]
    assert missing == []
