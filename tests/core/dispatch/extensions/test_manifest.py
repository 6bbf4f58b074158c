from __future__ import annotations

from typing import Any

import pytest

from tests.core.dispatch.extensions.manifests import GUARD, PATH, load, refusal
from watchgate.core.dispatch.extensions import extension_spec
from watchgate.core.dispatch.extensions.extension_spec import ExtensionError

BEFORE = {"hook": "before_tool_call"}


@pytest.mark.parametrize(
    ("changes", "key", "says"),
    [
        (
            {"hooks": [{"hook": "before_tol_call"}]},
            "hooks[0].hook",
            "mean before_tool_call",
        ),
        (
            {"permissions": ["tools.watch"]},
            "permissions[0]",
            "no permission 'tools.watch'",
        ),
        ({"permissions": ["tools.override"]}, "permissions[0]", "reserved"),
        (
            {"hooks": [{"hook": "on_session_start", "tool": "bash"}]},
            "hooks[0].tool",
            "about no tool",
        ),
        (
            {"hooks": [{"hook": "before_message", "match": {"input_contains": "x"}}]},
            "hooks[0].match",
            "about no tool",
        ),
        ({"command": ""}, "command", "mend"),
        ({"command": "  "}, "command", "is empty"),
        ({"command": None}, "", "the key command is missing"),
        ({"command": "a\0b"}, "command", "mend"),
        ({"args": ["a\0b"]}, "args[0]", "mend"),
        ({"protocol_version": 2}, "protocol_version", "version 1"),
        ({"runtime": "wasm"}, "runtime", "use process"),
        ({"hooks": []}, "hooks", "names no hook"),
        ({"hooks": [], "permissions": ["tools.register"]}, "hooks", "no tools or providers"),
        ({"hooks": [BEFORE], "permissions": []}, "hooks[0]", "add it to permissions"),
        ({"hoks": []}, "hoks", "allowed: args, command"),
        ({"hooks": [{**BEFORE, "tol": "x"}]}, "hooks[0].tol", "allowed: hook, match, tool"),
        (
            {"hooks": [{**BEFORE, "match": {"input_regex": "x"}}]},
            "hooks[0].match.input_regex",
            "allowed: input_contains, input_equals",
        ),
        ({"hooks": [{**BEFORE, "match": {"input_contains": 1}}]}, "hooks[0].match", "mend"),
        ({"config": [{"key": "a b"}]}, "config[0].key", "mend"),
        ({"config": [{"key": "a", "secret_env": "A-B"}]}, "config[0].secret_env", "mend"),
        ({"config": [{"key": "a"}, {"key": "a"}]}, "config", "twice"),
    ],
)
def test_sy_22_a_manifest_that_cannot_be_meant_is_refused_with_file_key_and_mend(
    changes: dict[str, Any], key: str, says: str
) -> None:
    said = refusal(changes)
    assert said.startswith(f"{PATH}: {key}")
    assert says in said


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "[" * 100_000, b"\xff{}"])
def test_sy_22_what_is_no_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(ExtensionError, match=r"mend|missing"):
        extension_spec.read_manifest(text, PATH)


def test_sy_22_a_refused_manifest_has_the_health_word_of_failed_validation() -> None:
    assert ExtensionError.health == "failed_validation"


def test_sy_23_a_manifest_without_a_protocol_version_is_version_1() -> None:
    assert "protocol_version" not in GUARD
    assert load().initialize["extension_protocol_version"] == 1
    assert load({"protocol_version": 1}) == load()


def test_sy_7_an_unknown_matcher_key_is_a_manifest_error() -> None:
    assert "match.any" in refusal({"hooks": [{**BEFORE, "match": {"any": True}}]})
