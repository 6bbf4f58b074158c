"""An `[[escalation]]` that could tell nobody is refused, at its own line and with the mend."""

from __future__ import annotations

import pytest

from watchgate.core.base.config_text import ConfigError, ConfigSource
from watchgate.core.config.config_sections import (
    EscalationConfig,
    escalation_fault,
    first_escalation_fault,
)
from watchgate.core.config.configured_handlers import check_escalations, check_shapes

URL = "https://hooks.example/in?key=k"


@pytest.mark.parametrize(
    ("said", "key", "words"),
    [
        ({}, "name", "tells nobody: it needs command"),
        ({"url": URL, "command": ("/bin/true",)}, "url", "write an entry for each"),
        ({"url": "ftp://h/"}, "url", "must be http://HOST/"),
        ({"url": "https://u:p@h/"}, "url", "must hold no user or password"),
        ({"command": ("",)}, "command", "names no program"),
        ({"command": ("bin/tell",)}, "command", "must begin with /"),
        ({"command": ("tell", "a\0b")}, "command", "command[1] holds a NUL"),
        ({"name": "a\nb", "url": URL}, "name", "cannot be shown"),
    ],
)
def test_an_entry_that_can_tell_nobody_is_refused(
    said: dict[str, object], key: str, words: str
) -> None:
    fault = escalation_fault(EscalationConfig(**{"name": "ana", **said}))  # type: ignore[arg-type]
    assert fault is not None
    assert fault[0] == key
    assert words in fault[1]


@pytest.mark.parametrize("said", [{"url": URL}, {"command": ("/bin/tell", "-x")}])
def test_a_command_or_a_url_is_enough(said: dict[str, object]) -> None:
    assert escalation_fault(EscalationConfig(name="ana", **said)) is None  # type: ignore[arg-type]


def test_names_are_given_once() -> None:
    entries = [EscalationConfig(name="ana", url=URL)] * 2
    found = first_escalation_fault(entries)
    assert found is not None
    assert found[:2] == (1, "name")


def test_a_fault_is_named_with_its_line() -> None:
    text = f'[[escalation]]\nname = "ana"\nurl = "{URL}"\n\n[[escalation]]\nname = "ben"\n'
    source = ConfigSource(text, "config.toml")
    entries = (EscalationConfig(name="ana", url=URL), EscalationConfig(name="ben"))
    with pytest.raises(ConfigError, match=r"^config\.toml:6: 'ben' tells nobody"):
        check_escalations(entries, source)


def test_a_key_that_an_entry_does_not_have_is_refused_at_its_line() -> None:
    text = '[[escalation]]\nname = "ana"\nafter = 5\n'
    values = {"escalation": [{"name": "ana", "after": 5}]}
    with pytest.raises(ConfigError, match=r"config\.toml:3: unknown key .*after_s"):
        check_shapes(values, ConfigSource(text, "config.toml"))
