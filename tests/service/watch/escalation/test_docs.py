"""docs/escalation.md says what is so: its example, every key, every field of the message."""

from __future__ import annotations

import re
from pathlib import Path

from watchgate.core.config.config import load
from watchgate.core.config.config_sections import EscalationConfig, first_escalation_fault
from watchgate.service.watch.escalation.escalation_watch import EscalationMessage

TEXT = (Path(__file__).parents[4] / "docs" / "escalation.md").read_text()
EXAMPLE = re.search(r"^    \[\[escalation\]\].*?(?=^\|)", TEXT, re.MULTILINE | re.DOTALL)


def test_the_documented_example_is_taken() -> None:
    assert EXAMPLE is not None
    entries = load(EXAMPLE.group().replace("\n    ", "\n").lstrip(), "docs").escalation
    assert [(each.name, each.min_risk, each.when) for each in entries] == [
        ("ana's phone", "high", "unattended"),
        ("ops", "critical", "always"),
    ]
    assert first_escalation_fault(entries) is None


def test_every_key_is_documented() -> None:
    keys = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert set(keys) == set(EscalationConfig.__struct_fields__)


def test_the_documented_message_has_every_field() -> None:
    shown = TEXT.partition("    {")[2].partition("}")[0]
    assert set(re.findall(r'"(\w+)":', shown)) == set(EscalationMessage.__struct_fields__)
