from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import other, pre, shell
from tests.core.dispatch.extensions.manifests import GUARD, PATH, load, refusal
from watchgate.core.dispatch.extensions.extension_hooks import HOOKS
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_matchers import InputContains, Matcher
from watchgate.core.dispatch.handlers import Handler, RegistrationError
from watchgate.core.dispatch.presets import SYNAPS_CHAIN
from watchgate.core.model.events import Event, Tool

MCP = Tool("fs:read", "mcp__fs__read", "mcp", {"path": "a.py"}, "")


def hook(**fields: Any) -> dict[str, Any]:
    return {"hooks": [{"hook": "before_tool_call", **fields}]}


def sees(event: Event, **fields: Any) -> bool:
    (handler,) = load(hook(**fields)).handlers
    return handler.match.matches(event)


def call(**args: Any) -> Event:
    return pre(Tool("Edit", "apply_patch", "edit", args, ""))


def test_sy_2_a_permission_not_granted_names_extension_permission_and_hook() -> None:
    said = refusal(permissions=())
    assert "extension guard" in said
    assert "tools.intercept" in said
    assert "before_tool_call" in said
    assert PATH in said


def test_sy_2_a_permission_that_belongs_to_no_hook_has_to_be_granted_too() -> None:
    wants = {"permissions": ["tools.intercept", "memory.read"]}
    assert "wants memory.read, which is not granted" in refusal(
        wants, permissions=("tools.intercept",)
    )


def test_sy_2_registering_without_the_permission_registers_nothing() -> None:
    bus = Bus(SYNAPS_CHAIN)
    taken = Handler(id="x", on=frozenset({"prompt.submit"}), permissions=frozenset())
    with pytest.raises(RegistrationError, match=r"x has no permission privacy.llm_content"):
        bus.register(taken)
    assert bus.is_empty


def test_an_extension_gets_what_is_both_wanted_and_granted() -> None:
    assert load().permissions == {"tools.intercept"}
    assert load().handlers[0].permissions == frozenset({"tools.intercept"})
    assert "reserved" in refusal(permissions=("tools.intercept", "tools.override"))


def test_sy_b6_manifest_and_bus_refuse_a_tool_filter_on_a_hook_without_a_tool() -> None:
    assert "about no tool" in refusal({"hooks": [{"hook": "on_session_end", "tool": "Bash"}]})
    direct = Handler(id="x", on=frozenset({"session.end"}), match=Matcher((InputContains("null"),)))
    with pytest.raises(RegistrationError, match="tool"):
        Bus(SYNAPS_CHAIN).register(direct)


@pytest.mark.parametrize(
    ("event", "name", "fits"),
    [
        (pre(MCP), "fs:read", True),
        (pre(MCP), "mcp__fs__read", True),
        (pre(MCP), "read", False),
        (pre(MCP), "FS:READ", False),
        (other("prompt.submit"), "fs:read", False),
    ],
)
def test_sy_4_the_tool_filter_takes_either_of_the_two_names(
    event: Event, name: str, fits: bool
) -> None:
    assert sees(event, tool=name) is fits


@pytest.mark.parametrize(
    ("needle", "fits"),
    [
        ('"path":"a.py"', True),
        ('"path": "a.py"', False),
        ("{", True),
        ("", True),
        ("null", True),
        ("nul\\u006c", False),
        ("Grüße 世", True),
        ("\\u00fc", False),
        ('say \\"hi\\"\\n', True),
        ('say "hi"', False),
        ('"path":"a.py","note":', True),
        ('"note":null,"path"', False),
        ("C:\\\\temp", True),
        ("C:\\temp", False),
    ],
)
def test_sy_5_input_contains_looks_in_the_compact_text(needle: str, fits: bool) -> None:
    args = {"path": "a.py", "note": None, "text": 'say "hi"\n', "who": "Grüße 世", "at": "C:\\temp"}
    assert sees(call(**args), match={"input_contains": needle}) is fits


def test_sy_5_a_missing_input_is_the_text_null() -> None:
    condition = InputContains("null")
    assert condition.holds(other("prompt.submit"))
    assert not condition.holds(call(path="a.py"))


def test_sy_b5_the_text_has_the_inputs_own_order_and_only_the_escapes_that_json_needs() -> None:
    text = '{"b":"ü","a":[1,2.0,true]}'
    assert sees(call(b="ü", a=[1, 2.0, True]), match={"input_contains": text})
    assert not sees(call(a=[1, 2.0, True], b="ü"), match={"input_contains": text})


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"a": 1}, True),
        ({"a": 1.0}, False),
        ({"a": True}, False),
        ({"a": 1, "b": None}, False),
        ({}, False),
        (None, False),
        ([], False),
    ],
)
def test_sy_6_input_equals_is_equality_of_json_values(wanted: Any, fits: bool) -> None:
    assert sees(call(a=1), match={"input_equals": wanted}) is fits


def test_sy_6_key_order_does_not_matter_and_null_is_a_value() -> None:
    assert sees(call(a=1, b=2), match={"input_equals": {"b": 2, "a": 1}})
    (handler,) = load(hook(match={"input_equals": None})).handlers
    assert handler.match.matches(other("prompt.submit"))


def test_sy_7_both_matchers_and_the_tool_must_fit() -> None:
    both = {"input_contains": "rm", "input_equals": {"command": "rm x"}}
    assert sees(pre(shell("rm x")), tool="Bash", match=both)
    assert not sees(pre(shell("rm y")), tool="Bash", match=both)
    assert not sees(pre(MCP), match=both)
    assert not sees(pre(shell("rm x")), tool="fs:read", match=both)


@pytest.mark.parametrize("match", [{}, None])
def test_sy_7_an_empty_matcher_fits_all(match: Any) -> None:
    assert sees(pre(), match=match)
    assert load({"hooks": [{"hook": "on_session_start", "match": match}], **LIFECYCLE}).handlers


LIFECYCLE: dict[str, Any] = {"permissions": ["session.lifecycle"]}


def test_every_hook_names_the_canonical_events_it_stands_for() -> None:
    assert {name: sorted(found.on) for name, found in HOOKS.items()} == {
        "before_tool_call": ["tool.pre"],
        "after_tool_call": ["tool.error", "tool.post"],
        "before_message": ["prompt.submit"],
        "on_message_complete": ["message"],
        "on_compaction": ["compact.post"],
        "on_session_start": ["session.start"],
        "on_session_end": ["session.end"],
    }


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_every_hook_can_be_registered(name: str) -> None:
    wants = ["tools.intercept", "privacy.llm_content", "session.lifecycle"]
    bus = Bus(SYNAPS_CHAIN, load({"hooks": [{"hook": name}], "permissions": wants}).handlers)
    assert bus.subscriptions("guard") == [(kind, None) for kind in sorted(HOOKS[name].on)]


def test_an_observer_is_made_where_an_answer_changes_nothing() -> None:
    hooks = [{"hook": "before_tool_call"}, {"hook": "after_tool_call"}]
    first, second = load({"hooks": hooks}).handlers
    assert (first.role, second.role) == ("gate", "observer")
    assert load({"hooks": hooks}, role="observer").handlers[0].role == "observer"


def test_handlers_are_named_after_the_extension_and_told_apart_by_hook() -> None:
    before, after = {"hook": "before_tool_call"}, {"hook": "after_tool_call"}
    assert [each.id for each in load().handlers] == ["guard"]
    spec = load({"hooks": [before, after, {**before, "tool": "Bash"}]})
    ids = [each.id for each in spec.handlers]
    assert ids == ["guard:before_tool_call", "guard:after_tool_call", "guard:before_tool_call:2"]
    assert len(Bus(SYNAPS_CHAIN, spec.handlers).subscriptions("guard")) == 4


def test_what_the_users_configuration_says_reaches_the_handlers() -> None:
    (handler,) = load(timeout_s=2.5, on_failure="open", priority=7, enabled=False).handlers
    assert (handler.timeout_s, handler.on_failure, handler.priority) == (2.5, "open", 7)
    assert handler.disabled
    assert load().handlers[0].role == "gate"


def test_sy_32_it_runs_in_its_manifests_folder_with_the_shared_variables_and_its_secrets() -> None:
    wants = {"config": [{"key": "token", "secret_env": "GUARD_TOKEN"}]}
    environ = {"GUARD_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "never", "PATH": "/bin"}
    spec = load(wants, environ, inherited={"PATH": "/usr/bin"})
    assert (spec.argv, spec.cwd) == (("python3", "main.py"), "/srv/guard")
    assert spec.env == {"PATH": "/usr/bin", "GUARD_TOKEN": "t"}
    assert GUARD["args"] == ["main.py"]


def test_sy_26_the_first_call_says_versions_place_and_configuration() -> None:
    said = load({"config": [{"key": "endpoint", "default": "local"}]}).initialize
    version = said.pop("synaps_version")
    assert version
    assert said == {
        "extension_protocol_version": 1,
        "plugin_id": "guard",
        "plugin_root": "/srv/guard",
        "config": {"endpoint": "local"},
    }
