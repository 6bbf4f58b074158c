"""Every preset against its reference model, over random handlers, verdicts and finishing orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.builders import other, pre, shell
from tests.core.dispatching import Played, Says, handler, run
from tests.core.preset_models import MODELS
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.handler_matchers import ANY, Matcher, ToolCondition
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PRESETS, DispatchPolicy, PresetName
from watchgate.core.model.events import Event, Kind, Lane
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    Verdict,
)

FAILURES: list[Verdict] = [Failed(cause, "oops") for cause in get_args(FailureCause)]
REWRITES: list[Verdict] = [Modify({"command": "a"}), Modify({"command": "b"}), Modify(None)]
TEXTS: list[Verdict] = [Inject("one"), Inject("two")]
CALM: list[Verdict] = [Allow("fine"), Defer("nothing")]
NOES: list[Verdict] = [Block("no"), Abort("enough")]
WORDS: dict[PresetName, list[Verdict]] = {
    "console": [*CALM, Block("no"), Abort("enough"), Confirm("ask"), *REWRITES, *TEXTS],
    "codewhale-sinks": [*CALM, Block("no"), Abort("enough"), Confirm("ask"), *TEXTS],
    "codex-fork-v1": [*CALM, Block("no"), *REWRITES],
    "codex-fork-v2": [*CALM, Block("no"), *REWRITES, *TEXTS],
    "codex-permission": [*CALM, Block("no"), *REWRITES],
    "sandbox-lifecycle": [Allow("done")],
    "synaps-chain": [*CALM, Block("no"), Confirm("ask"), *REWRITES, *TEXTS],
    "sdk-first-match": [*CALM, Block("no"), Abort("enough"), *REWRITES],
}
KINDS: dict[PresetName, tuple[Kind, ...]] = {
    "codex-permission": ("tool.pre", "tool.permission"),
    "sandbox-lifecycle": ("session.start", "prompt.submit"),
    "synaps-chain": ("tool.pre", "prompt.submit"),
}
SDK_NATIVE = "item.started/command_execution"


class Case(NamedTuple):
    """Handlers, what each says (None: it hangs), and who ends first of those that run at once."""

    handlers: list[Handler]
    says: dict[str, Verdict | None]
    kind: Kind
    order: Callable[[Sequence[Invoke]], int]

    def play(self, policy: DispatchPolicy) -> Played:
        says: dict[str, Says] = dict(self.says)
        return run(
            self.handlers, says, policy=policy, event=happening(self.kind), ends_next=self.order
        )


def happening(kind: Kind) -> Event:
    if kind.startswith("tool."):
        call = pre(shell("high", "c1"))
        return msgspec.structs.replace(call, native=SDK_NATIVE, kind=kind)
    return other(kind, Lane.GATE)


@st.composite
def cases(draw: st.DrawFn, preset: PresetName) -> Case:
    kind = draw(st.sampled_from(KINDS.get(preset, ("tool.pre",))))
    matches = (
        [ANY, ANY, Matcher((ToolCondition(("Read",)),))] if kind.startswith("tool.") else [ANY]
    )
    handlers = [
        handler(
            f"h{number}",
            kind,
            role=draw(st.sampled_from(["gate", "gate", "gate", "observer", "sink"])),
            priority=draw(st.integers(0, 2)),
            match=draw(st.sampled_from(matches)),
            timeout_s=0.5,
            on_failure=draw(st.sampled_from([None, None, "open", "closed"])),
            continue_on_failure=draw(st.sampled_from([None, True, False]))
            if preset == "sandbox-lifecycle"
            else None,
            once=draw(st.booleans()),
            disabled=draw(st.sampled_from([False, False, False, True])),
        )
        for number in range(draw(st.integers(1, 6)))
    ]
    said: list[Verdict | None] = [*WORDS[preset], *WORDS[preset], *FAILURES, None]
    says = {each.id: draw(st.sampled_from(said)) for each in handlers}
    turns = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))

    def order(waiting: Sequence[Invoke]) -> int:
        turns.append(turns.pop(0))
        return turns[-1] % len(waiting)

    return Case(handlers, says, kind, order)


def asked(case: Case) -> list[tuple[Handler, Verdict]]:
    """The gates that fit and may run, with what they say."""
    return [
        (each, case.says[each.id] or Failed("timeout"))
        for each in case.handlers
        if each.role == "gate" and each.match == ANY and not each.disabled
    ]


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=120)
@given(data=st.data())
def test_core_10_core_3_every_preset_equals_its_model_whoever_ends_first(
    preset: PresetName, data: st.DataObject
) -> None:
    case = data.draw(cases(preset))
    policy = PRESETS[preset]
    played = case.play(policy)
    outcome, expected = played.outcome, MODELS[preset](asked(case), case.kind)
    gates = {each.id for each in case.handlers if each.role == "gate"}
    assert list(dict.fromkeys(key for key in played.ran if key in gates)) == expected.ran
    assert (outcome.decision, outcome.decided_by) == (expected.decision, expected.by)
    assert outcome.input == expected.input
    assert list(outcome.injections) == list(expected.texts)
    assert outcome.stop_turn is expected.stop_turn


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=60)
@given(data=st.data())
def test_core_5_core_7_every_handler_has_one_row_and_a_view_is_called_one(
    preset: PresetName, data: st.DataObject
) -> None:
    case = data.draw(cases(preset))
    policy = PRESETS[preset]
    played = case.play(policy)
    chain = [each.id for each in case.handlers]
    if policy.order == "priority":
        chain = [each.id for each in sorted(case.handlers, key=lambda each: each.priority)]
    assert [row.handler for row in played.trace] == chain
    rows = {row.handler: row for row in played.trace}
    for each in case.handlers:
        row = rows[each.id]
        assert (row.status == "ran") is (each.id in played.ran) or row.why == "breaker"
        assert (row.why is None) is (row.status == "ran")
        assert row.role == each.role
        if each.role != "gate" and row.status == "ran":
            assert row.ignored
    assert played.outcome.effect == policy.effect(case.kind)


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=60)
@given(data=st.data())
def test_core_6_sd_b6_observers_and_open_failures_change_no_decision(
    preset: PresetName, data: st.DataObject
) -> None:
    case = data.draw(cases(preset))
    gates = [each for each in case.handlers if each.role == "gate"]
    bystanders = [
        handler("observer", case.kind, role="observer", priority=-1, on_failure="closed"),
        handler("open", case.kind, priority=-1, on_failure="open"),
    ]
    before = case._replace(handlers=gates)
    says = {**case.says, "observer": data.draw(st.sampled_from([*WORDS[preset], *FAILURES]))}
    says["open"] = data.draw(st.sampled_from(FAILURES))
    after = Case([*bystanders, *gates], says, case.kind, case.order)
    one, two = (each.play(PRESETS[preset]).outcome for each in (before, after))
    assert (one.decision, one.decided_by, one.input, one.injections, one.stop_turn) == (
        two.decision,
        two.decided_by,
        two.input,
        two.injections,
        two.stop_turn,
    )


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=60)
@given(data=st.data())
def test_no_preset_with_a_gates_effect_lets_a_heard_block_through(
    preset: PresetName, data: st.DataObject
) -> None:
    """Also for words that the preset's own hook system does not know."""
    case = data.draw(cases(preset))
    anything: list[Verdict] = [*CALM, Abort("enough"), Confirm("ask"), *REWRITES, *TEXTS]
    said = data.draw(st.lists(st.sampled_from(anything), min_size=6, max_size=6))
    says = {f"h{number}": verdict for number, verdict in enumerate(said)}
    blocker = data.draw(st.sampled_from(case.handlers)).id
    says[blocker] = data.draw(st.sampled_from(NOES))
    policy, kind = PRESETS[preset], case.kind
    allowed = policy.allowed.get(kind)
    played = Case(case.handlers, {**case.says, **says}, kind, case.order).play(policy)
    row = played.row(blocker)
    counts = row.role == "gate" and row.status == "ran" and policy.effect(kind) == "gate"
    if counts and (allowed is None or "block" in allowed):
        assert played.outcome.decision == "deny"
        assert played.outcome.input is None


INPUTS = st.sampled_from("abcd")


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.sets(INPUTS, max_size=2), st.none() | INPUTS, st.booleans()),
        min_size=1,
        max_size=5,
    )
)
def test_cx_b8_sy_b2_no_input_leaves_the_chain_that_a_judging_gate_would_block(
    gates: list[tuple[set[str], str | None, bool]],
) -> None:
    """Each gate forbids some inputs and may rewrite every input that it sees."""

    def says(forbidden: set[str], rewrite: str | None) -> Says:
        def verdict(found: dict[str, Any]) -> Verdict:
            if found["command"] in forbidden:
                return Block("forbidden")
            return Allow() if rewrite is None else Modify({"command": rewrite})

        return verdict

    handlers = [handler(f"h{number}", once=gate[2]) for number, gate in enumerate(gates)]
    script = {each.id: says(*gate[:2]) for each, gate in zip(handlers, gates, strict=True)}
    outcome = run(handlers, script, event=pre(shell("a", "c1"))).outcome
    final = (outcome.input or {"command": "a"})["command"]
    if outcome.decision != "deny":
        judging = [forbidden for forbidden, rewrite, _ in gates if rewrite is None]
        assert not any(final in forbidden for forbidden in judging)
