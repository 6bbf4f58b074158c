"""A key that does nothing under the preset is warned of; one that does something is not."""

from __future__ import annotations

import pytest

from watchgate.core.config.config import load
from watchgate.core.config.configured_handlers import idle
from watchgate.core.dispatch.presets import preset_of


def warned(
    keys: str,
    preset: str = "console",
    on: str = "tool.pre",
    total: str = "",
    table: str = "handler",
) -> list[str]:
    """What is said about one entry with these keys."""
    wants = {
        "handler": f'on = ["{on}"]\ncommand = ["./guard.sh"]',
        "extension": 'manifest = "m.json"',
    }
    dispatch = f'[dispatch]\npreset = "{preset}"\n{total}'
    text = f'{dispatch}\n[[{table}]]\nid = "a"\n{wants[table]}\n{keys}'
    config = load(text, "config.toml")
    given = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    return idle((*config.handler, *config.extension), given)


@pytest.mark.parametrize("table", ["handler", "extension"])
def test_a_priority_where_the_files_order_counts(table: str) -> None:
    (warning,) = warned("priority = 5", "codex-fork-v1", table=table)
    assert warning.startswith(f"{table} a: priority = 5 does nothing under codex-fork-v1")
    assert not warned("priority = 5", "console", table=table)
    assert not warned("priority = 100", "codex-fork-v1", table=table)


@pytest.mark.parametrize("key", ['on_failure = "closed"', "continue_on_failure = false"])
def test_a_failure_rule_of_an_observer(key: str) -> None:
    (warning,) = warned(f'role = "observer"\n{key}')
    assert f"an observer's {key.partition(' ')[0]} is never used" in warning
    assert not warned(key)
    assert not warned('role = "observer"')


def test_an_extensions_failure_rule_is_looked_at_too() -> None:
    (warning,) = warned('role = "observer"\non_failure = "open"', table="extension")
    assert warning.startswith("extension a: an observer's on_failure")
    assert not warned('on_failure = "closed"', table="extension")


def test_a_closed_failure_where_nothing_is_decided() -> None:
    (warning,) = warned('on_failure = "closed"', "codewhale-sinks")
    assert 'on_failure = "closed" prevents nothing at tool.pre' in warning
    assert "codewhale-sinks decides nothing" in warning
    (warning,) = warned('on_failure = "closed"', "synaps-chain", on="tool.post")
    assert "synaps-chain decides prompt.submit, tool.pre" in warning
    assert not warned('on_failure = "closed"', "synaps-chain")
    assert not warned('on_failure = "closed"', "synaps-chain", on='tool.post", "tool.pre')
    assert not warned('on_failure = "open"', "codewhale-sinks")


def test_a_limit_above_that_of_all_together() -> None:
    (warning,) = warned("timeout_s = 31")
    assert "timeout_s = 31 is never reached" in warning
    assert "30 s together; raise [dispatch] total_timeout_s" in warning
    assert not warned("timeout_s = 30")
    assert not warned("timeout_s = 31", total="total_timeout_s = 40")
    assert warned("timeout_s = 31", "codex-fork-v2", total="total_timeout_s = 20")


def test_each_key_has_a_warning_of_its_own() -> None:
    keys = 'role = "observer"\npriority = 1\non_failure = "closed"\ntimeout_s = 99'
    assert len(warned(keys, "sdk-first-match")) == 3
