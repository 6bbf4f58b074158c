from __future__ import annotations

from typing import Any

import pytest

from tests.core.dispatch.extensions.manifests import load
from tests.core.dispatching import run
from watchgate.core.dispatch.extensions.extension_hooks import TEXT_CAP, read_verdict
from watchgate.core.dispatch.presets import CONSOLE, SYNAPS_CHAIN, DispatchPolicy
from watchgate.core.model.verdicts import Allow, Block, Confirm, Failed, Inject, Modify


def decides(result: Any, policy: DispatchPolicy) -> str:
    """What a chain of this one extension decides."""
    (guard,) = load().handlers
    return run([guard], {guard.id: read_verdict(result, "guard")}, policy=policy).outcome.decision


@pytest.mark.parametrize(
    ("result", "means"),
    [
        ({"action": "continue"}, Allow()),
        ({"action": "continue", "note": 1}, Allow()),
        ({"action": "block", "reason": "outside workspace"}, Block("outside workspace")),
        ({"action": "confirm", "message": "Run deploy?"}, Confirm("Run deploy?")),
        ({"action": "inject", "content": "Today is Friday."}, Inject("Today is Friday.")),
        (
            {"action": "modify", "input": {"command": "echo safe"}},
            Modify({"command": "echo safe"}, "rewritten by guard"),
        ),
        ({"action": "modify", "input": {}}, Modify({}, "rewritten by guard")),
    ],
)
def test_every_action_has_its_verdict(result: Any, means: Any) -> None:
    assert read_verdict(result, "guard") == means


@pytest.mark.parametrize("payload", [{}, {"input": None}])
def test_sy_29_a_rewrite_without_an_input_is_one_without_a_payload(payload: dict[str, Any]) -> None:
    assert read_verdict({"action": "modify", **payload}, "guard") == Modify(None)
    assert decides({"action": "modify", **payload}, SYNAPS_CHAIN) == "deny"


@pytest.mark.parametrize("payload", ["rm", 0, [], False])
def test_sy_29_a_rewrite_to_no_object_is_malformed_which_the_chain_blocks(payload: Any) -> None:
    found = read_verdict({"action": "modify", "input": payload}, "guard")
    assert isinstance(found, Failed)
    assert decides({"action": "modify", "input": payload}, SYNAPS_CHAIN) == "deny"


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        "continue",
        {},
        {"action": None},
        {"action": "allow"},
        {"action": "Continue"},
        {"action": ["block"]},
        {"action": "inject"},
        {"action": "inject", "content": 3},
    ],
)
def test_sy_29_any_other_malformed_result_is_a_failure_that_the_chain_lets_pass(
    result: Any,
) -> None:
    found = read_verdict(result, "guard")
    assert isinstance(found, Failed)
    assert "guard" in found.detail
    assert decides(result, SYNAPS_CHAIN) == "allow"
    assert decides(result, CONSOLE) == "deny"


@pytest.mark.parametrize("reason", [{}, {"reason": None}, {"reason": 7}, {"reason": " "}])
def test_a_denial_without_a_reason_is_still_a_denial(reason: dict[str, Any]) -> None:
    found = read_verdict({"action": "block", **reason}, "guard")
    assert isinstance(found, Block)
    assert "guard" in found.reason
    assert isinstance(read_verdict({"action": "confirm"}, "guard"), Confirm)


@pytest.mark.parametrize(
    ("action", "key"), [("inject", "content"), ("block", "reason"), ("confirm", "message")]
)
def test_sy_b15_one_text_is_capped_and_says_so(action: str, key: str) -> None:
    found = read_verdict({"action": action, key: "x" * 100_000}, "guard")
    text = getattr(found, {"inject": "text", "block": "reason", "confirm": "message"}[action])
    assert len(text) == TEXT_CAP
    assert text.endswith("... [cut, 100000 characters in total]")
    whole = read_verdict({"action": "inject", "content": "x" * TEXT_CAP}, "guard")
    assert whole == Inject("x" * TEXT_CAP)
