"""The console preset against what it promises, over random handlers and verdicts (CORE-10)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.builders import pre, shell
from tests.core.test_dispatch import Says, handler, run
from watchgate.core.handlers import Handler
from watchgate.core.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Verdict,
)

VERDICTS: list[Verdict] = [
    Allow("fine"),
    Block("no"),
    Abort("enough"),
    Confirm("ask"),
    Defer("nothing"),
    Inject("hint"),
    Modify({"command": "other"}),
    Modify(None),
    Failed("crash", "oops"),
]
INPUTS = st.sampled_from("abcd")


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Handler], dict[str, Verdict]]:
    handlers = [
        handler(
            f"h{number}",
            role=draw(st.sampled_from(["gate", "gate", "observer", "sink"])),
            priority=draw(st.integers(0, 3)),
            on_failure=draw(st.sampled_from([None, "open", "closed"])),
        )
        for number in range(draw(st.integers(1, 6)))
    ]
    return handlers, {each.id: draw(st.sampled_from(VERDICTS)) for each in handlers}


def blocks(each: Handler, verdict: Verdict) -> bool:
    """Whether it denies: a gate's block, or the failure of what must not fail."""
    failed = isinstance(verdict, Failed) or verdict == Modify(None)
    if failed:
        return each.fails_closed
    return each.role == "gate" and isinstance(verdict, Block | Abort)


@settings(max_examples=150)
@given(chains())
def test_core_10_the_outcome_is_that_of_the_model(
    case: tuple[list[Handler], dict[str, Verdict]],
) -> None:
    handlers, says = case
    outcome = run(handlers, says)
    order = sorted(handlers, key=lambda each: each.priority)
    stop = next((n for n, each in enumerate(order) if blocks(each, says[each.id])), len(order))
    heard = [each for each in order[:stop] if each.role == "gate"]

    def first(*kinds: type) -> str | None:
        return next((each.id for each in heard if isinstance(says[each.id], kinds)), None)

    if stop < len(order):
        assert (outcome.decision, outcome.decided_by) == ("deny", order[stop].id)
        assert outcome.stop_turn is isinstance(says[order[stop].id], Abort)
    else:
        author = first(Confirm) or first(Allow, Defer)
        by = {Confirm: "confirm", Allow: "allow", Defer: "none", type(None): "none"}
        assert outcome.decision == by[type(says.get(author or ""))]
        assert outcome.decided_by == author
    rewritten = any(says[each.id] == Modify({"command": "other"}) for each in heard)
    changed = rewritten and outcome.decision != "deny"
    assert outcome.input == ({"command": "other"} if changed else None)

    skipped = {each.id for each in order[stop + 1 :] if each.role == "gate"}
    assert [row.handler for row in outcome.trace] == [each.id for each in order]
    assert {row.handler for row in outcome.trace if row.status == "skipped"} == skipped
    hints = [e for e in order if e.id not in skipped and isinstance(says[e.id], Inject)]
    assert len(outcome.injections) == len(hints)


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sets(INPUTS, max_size=2), st.none() | INPUTS),
        min_size=1,
        max_size=5,
    )
)
def test_no_input_leaves_the_chain_that_a_judging_gate_would_block(
    gates: list[tuple[set[str], str | None]],
) -> None:
    """Each gate forbids some inputs and may rewrite every input that it sees."""

    def says(forbidden: set[str], rewrite: str | None) -> Says:
        def verdict(found: dict[str, Any]) -> Verdict:
            if found["command"] in forbidden:
                return Block("forbidden")
            return Allow() if rewrite is None else Modify({"command": rewrite})

        return verdict

    handlers = [handler(f"h{number}") for number in range(len(gates))]
    script = {each.id: says(*gate) for each, gate in zip(handlers, gates, strict=True)}
    outcome = run(handlers, script, event=pre(shell("a", "c1")))
    final = (outcome.input or {"command": "a"})["command"]
    if outcome.decision != "deny":
        judging = [forbidden for forbidden, rewrite in gates if rewrite is None]
        assert not any(final in forbidden for forbidden in judging)
