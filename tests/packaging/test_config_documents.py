"""Whatever can be written in a configuration file is told of in the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from watchgate.core.dispatch.handler_config import (
    DispatchConfig,
    ExtensionConfig,
    HandlerConfig,
    MatchConfig,
    SinkConfig,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOLD = [
    (DispatchConfig, "dispatch.md"),
    (HandlerConfig, "handlers.md dispatch.md"),
    (MatchConfig, "dispatch.md"),
    (ExtensionConfig, "extensions.md dispatch.md"),
    (SinkConfig, "sinks.md"),
]


@pytest.mark.parametrize(("table", "documents"), TOLD)
def test_sa_b9_every_key_of_a_table_is_in_its_document(table: Any, documents: str) -> None:
    text = "\n".join((DOCS / name).read_text() for name in documents.split())
    keys = table.__struct_fields__
    assert [key for key in keys if f"`{key}`" not in text and f"{key} =" not in text] == []
