"""When a decision key acts, and when it only gets an explanation."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from watchgate.ui.approval.arming import (
    CONFIRM_S,
    DECISION_KEYS,
    TYPING,
    Arming,
    Ask,
    Card,
    Commit,
    Explain,
    HeldKey,
    Pass,
)

LOW = Card(id="r1", risk="low", complete=True)
HIGH = Card(id="r2", risk="high", complete=True)
CRITICAL = Card(id="r3", risk="critical", complete=True)
BYPASS = Card(id="r4", risk="low", complete=True, runs_unasked=True)


def looking_at(card: Card | None) -> Arming:
    arming = Arming()
    arming.focus(0.0)
    arming.drawn(card, 0.0)
    return arming


def pressed(arming: Arming, name: str, at: float) -> Commit | Ask | Explain | None:
    """The key alone, and what it does once the typing pause is over."""
    assert arming.key(name, at) == HeldKey()
    due = arming.next_due
    assert due is not None
    return arming.due(due)


def test_one_key_allows_what_is_low_and_was_looked_at() -> None:
    assert pressed(looking_at(LOW), "a", 2.0) == Commit("allow", "r1", 2000)


def test_a_key_waits_a_quarter_of_a_second_for_another_one() -> None:
    arming = looking_at(LOW)
    arming.key("d", 2.0)
    assert arming.due(2.24) is None
    assert arming.due(2.25) == Commit("deny", "r1", 2000)
    assert arming.next_due is None


def test_ap_10_an_allow_is_dead_until_the_request_was_drawn_for_600_ms() -> None:
    assert pressed(looking_at(LOW), "a", 0.59) == Explain(
        "not yet: this request has only just appeared"
    )
    assert pressed(looking_at(LOW), "a", 0.6) == Commit("allow", "r1", 600)


def test_ap_10_a_deny_does_not_wait_for_that() -> None:
    assert pressed(looking_at(CRITICAL), "d", 0.4) == Commit("deny", "r3", 400)


def test_ap_10_an_allow_is_dead_for_500_ms_after_the_terminal_got_the_focus() -> None:
    arming = looking_at(LOW)
    arming.focus(5.0)
    said = pressed(arming, "a", 5.4)
    assert said == Explain("not yet: this terminal has only just got the focus")
    assert pressed(arming, "a", 6.0) == Commit("allow", "r1", 6000)


def test_ap_10_ap_11_a_replaced_card_takes_no_decision_key_for_300_ms() -> None:
    arming = looking_at(LOW)
    arming.drawn(HIGH, 5.0)
    assert pressed(arming, "d", 5.29) == Explain("not yet: this request has only just appeared")
    assert pressed(arming, "d", 5.6) == Commit("deny", "r2", 600)


def test_ap_11_a_press_never_reaches_the_request_that_came_after_it() -> None:
    arming = looking_at(LOW)
    arming.key("d", 5.0)
    arming.drawn(HIGH, 5.1)
    assert arming.due(5.25) == Explain("the request changed, nothing was decided")


def test_ap_11_a_key_read_before_the_frame_that_is_handled_after_it_decides_nothing() -> None:
    arming = looking_at(LOW)
    arming.drawn(HIGH, 5.1)
    assert isinstance(pressed(arming, "d", 5.0), Explain)


def test_typing_decides_nothing_and_every_other_key_in_it_acts() -> None:
    arming = looking_at(LOW)
    assert arming.key("m", 2.0) == Pass()
    assert arming.key("a", 2.1) == Explain(TYPING)
    assert arming.key("d", 2.2) == Explain(TYPING)
    assert arming.key("q", 2.3) == Pass()
    assert arming.next_due is None


@pytest.mark.parametrize("apart_s", [0.06, 0.12, 0.2])
def test_keys_that_decide_nothing_are_never_lost(apart_s: float) -> None:
    arming = looking_at(LOW)
    keys = ["2", "5", "slash", "n", "p", "m", "colon", "q", "escape", "w", "j", "question_mark"]
    judged = [arming.key(key, 2.0 + number * apart_s) for number, key in enumerate(keys)]
    assert judged == [Explain("a allows, d denies") if key == "n" else Pass() for key in keys]


def test_a_key_that_follows_takes_the_decision_back_and_acts() -> None:
    arming = looking_at(LOW)
    arming.key("d", 2.0)
    assert arming.key("o", 2.2) == Pass(TYPING)
    assert arming.due(2.3) is None


def test_a_held_key_repeats_and_so_decides_nothing() -> None:
    arming = looking_at(LOW)
    arming.key("d", 2.0)
    assert [arming.key("d", 2.0 + n / 30) for n in (1, 2, 3)] == [Explain(TYPING)] * 3


def test_a_key_that_waits_when_the_terminal_gets_the_focus_was_not_meant_for_it() -> None:
    arming = looking_at(LOW)
    arming.key("d", 2.0)
    arming.focus(2.1)
    assert arming.due(2.3) is None
    assert arming.next_due is None


def test_the_same_key_is_armed_for_five_seconds_and_for_this_request_alone() -> None:
    assert CONFIRM_S == 5.0
    arming = looking_at(HIGH)
    ask = pressed(arming, "a", 2.0)
    assert isinstance(ask, Ask)
    assert arming.armed(7.2) == ask
    assert arming.armed(7.3) is None
    arming.drawn(LOW, 3.0)
    assert arming.armed(3.0) is None
    arming.drawn(HIGH, 4.0)
    assert arming.armed(4.0) is None


def test_any_other_key_disarms_at_once() -> None:
    arming = looking_at(HIGH)
    pressed(arming, "a", 2.0)
    arming.key("escape", 3.0)
    assert arming.armed(3.0) is None


def test_an_editor_opens_at_once_whatever_the_risk() -> None:
    for card in (LOW, HIGH, CRITICAL):
        assert pressed(looking_at(card), "e", 2.0) == Commit("edit", card.id, 2000)


def test_moving_keys_may_be_as_fast_as_they_like() -> None:
    arming = looking_at(LOW)
    assert [arming.key(k, 2.0 + n / 30) for n, k in enumerate("jjjkkG")] == [Pass()] * 6
    assert arming.key("d", 2.3) == Explain(TYPING)


def test_a_key_right_after_those_of_a_prompt_is_part_of_their_typing() -> None:
    arming = looking_at(LOW)
    arming.typed(2.0)
    assert arming.key("j", 2.1) == Pass()
    assert arming.key("d", 2.2) == Explain(TYPING)
    arming.typed(3.0)
    assert pressed(arming, "d", 3.25) == Commit("deny", "r1", 3250)


def test_a_paste_decides_nothing_and_drops_what_waited() -> None:
    arming = looking_at(LOW)
    arming.key("a", 2.0)
    assert arming.paste(2.1) == Explain(TYPING)
    assert arming.due(2.3) is None
    assert arming.key("d", 2.3) == Explain(TYPING)


def test_a_stalled_loop_gives_the_keys_in_the_queue_their_turn_first() -> None:
    arming = looking_at(LOW)
    arming.key("a", 2.0)
    assert arming.due(4.0) is None
    assert arming.key("l", 2.1) == Pass(TYPING)
    assert arming.due(4.1) is None


def test_a_key_between_takes_the_question_back() -> None:
    for between in ("j", "q", "y"):
        arming = looking_at(HIGH)
        assert isinstance(pressed(arming, "a", 2.0), Ask)
        arming.key(between, 3.0)
        assert isinstance(pressed(arming, "a", 4.0), Ask), between


def test_high_asks_for_the_same_key_again() -> None:
    arming = looking_at(HIGH)
    assert pressed(arming, "a", 2.0) == Ask("again", "allow", "r2", "a again allows it", 2000)
    assert pressed(arming, "a", 3.0) == Commit("allow", "r2", 3000, confirmed=True)


def test_what_nobody_could_assess_counts_as_high() -> None:
    assert isinstance(pressed(looking_at(Card(id="r", risk="unknown", complete=True)), "a", 2), Ask)


def test_the_second_key_must_come_soon_and_be_the_same() -> None:
    arming = looking_at(HIGH)
    pressed(arming, "a", 2.0)
    assert isinstance(pressed(arming, "a", 9.0), Ask)
    assert isinstance(pressed(arming, "A", 10.0), Ask)
    assert isinstance(pressed(arming, "a", 11.0), Ask)


def test_ap_11_the_second_key_must_be_for_the_same_request() -> None:
    arming = looking_at(HIGH)
    pressed(arming, "a", 2.0)
    arming.drawn(Card(id="r9", risk="high", complete=True), 3.0)
    assert isinstance(pressed(arming, "a", 4.0), Ask)


def test_critical_asks_for_a_typed_yes_however_often_the_key_is_pressed() -> None:
    arming = looking_at(CRITICAL)
    for at in (2.0, 3.0):
        ask = pressed(arming, "a", at)
        assert isinstance(ask, Ask)
        assert ask.confirmation == "yes"


def test_ap_12_nothing_is_allowed_that_was_not_shown_to_its_end() -> None:
    card = Card(id="r2", risk="low")
    arming = looking_at(card)
    assert pressed(arming, "a", 2.0) == Explain("not all of it was on the screen yet: v opens it")
    assert pressed(arming, "d", 3.0) == Commit("deny", "r2", 3000)
    arming.note_shown("r2")
    assert pressed(arming, "a", 4.0) == Commit("allow", "r2", 4000)
    arming.keep(set())
    assert isinstance(pressed(arming, "a", 5.0), Explain)


def test_a_handback_is_one_key_where_the_agent_asks_and_an_allow_where_it_does_not() -> None:
    assert pressed(looking_at(CRITICAL), "b", 0.4) == Commit("handback", "r3", 400)
    assert isinstance(pressed(looking_at(BYPASS), "b", 0.4), Explain)
    assert pressed(looking_at(BYPASS), "b", 0.7) == Commit("handback", "r4", 700)
    runs = Card(id="r5", risk="high", complete=True, runs_unasked=True)
    assert pressed(looking_at(runs), "b", 2.0) == Ask(
        "again", "handback", "r5", "b again lets the agent run it", 2000
    )


def test_deny_all_asks_once() -> None:
    arming = looking_at(LOW)
    assert isinstance(pressed(arming, "D", 2.0), Ask)
    assert pressed(arming, "D", 3.0) == Commit("deny_all", "r1", 3000, confirmed=True)


def test_a_blocked_key_says_why() -> None:
    arming = looking_at(Card(id="r", risk="low", complete=True, blocked={"edit": "not here"}))
    assert pressed(arming, "e", 2.0) == Explain("not here")


def test_n_y_enter_and_escape_never_decide() -> None:
    arming = looking_at(LOW)
    for at, name in enumerate(("n", "y"), start=2):
        assert arming.key(name, at) == Explain("a allows, d denies")
    for at, name in enumerate(("enter", "escape"), start=5):
        assert arming.key(name, at) == Pass()
    assert arming.due(20) is None


def test_remapped_keys_decide_and_are_named() -> None:
    arming = Arming({"ctrl+y": "allow", "f8": "deny"})
    arming.drawn(LOW, 0.0)
    assert arming.key("a", 1.0) == Pass()
    assert arming.key("y", 2.0) == Explain("ctrl+y allows, f8 denies")
    assert pressed(arming, "f8", 3.0) == Commit("deny", "r1", 3000)


def test_without_a_request_a_decision_key_says_so() -> None:
    assert pressed(looking_at(None), "d", 1.0) == Explain("nothing is pending")


KEYS = st.sampled_from([*DECISION_KEYS, "j", "q", "n", "enter", "tab", "x"])
CARDS = st.builds(
    Card,
    id=st.sampled_from(["p", "q", "r"]),
    risk=st.sampled_from(["low", "medium", "high", "critical", "unknown"]),
    complete=st.booleans(),
    runs_unasked=st.booleans(),
)
STEPS = st.sampled_from([0.0, 0.01, 0.1, 0.24, 0.25, 0.3, 0.5, 0.6, 1.0, 6.0])


class AnyOperator(RuleBasedStateMachine):
    """Any interleaving of frames, focus, keys, pastes and time."""

    def __init__(self) -> None:
        super().__init__()
        self.arming = Arming()
        self.now = 100.0
        self.card: Card | None = None
        self.drawn_at = self.focus_at = 0.0
        self.complete: set[str] = set()
        self.keys: list[tuple[float, str]] = []
        self.commits: list[Commit] = []
        self.asked: list[tuple[str, str]] = []

    @rule(step=STEPS)
    def time_passes(self, step: float) -> None:
        until = self.now + step
        due = self.arming.next_due
        if due is not None and due <= until:
            self.now = due
            self.check(self.arming.due(due))
        self.now = until

    @rule(card=st.none() | CARDS)
    def frame(self, card: Card | None) -> None:
        if (card and card.id) != (self.card and self.card.id):
            self.drawn_at = self.now
            self.asked = []
        self.card = card
        if card and card.complete:
            self.complete.add(card.id)
        self.arming.drawn(card, self.now)

    @rule()
    def focus(self) -> None:
        self.focus_at = self.now
        self.arming.focus(self.now)

    @rule(name=KEYS)
    def key(self, name: str) -> None:
        self.keys.append((self.now, name))
        self.arming.key(name, self.now)

    @rule()
    def paste(self) -> None:
        self.keys.append((self.now, "paste"))
        self.arming.paste(self.now)

    def check(self, outcome: Commit | Ask | Explain | None) -> None:
        if isinstance(outcome, Ask):
            self.asked.append((outcome.request, outcome.intent))
        if not isinstance(outcome, Commit):
            return
        self.commits.append(outcome)
        at, name = self.keys[-1]
        assert self.card is not None
        assert outcome.request == self.card.id, "only what is drawn is decided"
        assert DECISION_KEYS[name] == outcome.intent, "only by its own key"
        assert self.now - at >= 0.25, "only when no key follows"
        assert len(self.keys) < 2 or at - self.keys[-2][0] >= 0.25, "never within a burst"
        assert at - self.drawn_at >= 0.3, "never on a card that has only just come"
        if outcome.intent in ("deny", "deny_stop", "reply", "more_time", "deny_all"):
            return
        if outcome.intent == "handback" and not self.card.runs_unasked:
            return
        assert at - self.drawn_at >= 0.6, "never before it could be read"
        assert at - self.focus_at >= 0.5, "never right after the focus came"
        assert self.card.id in self.complete, "never what was not shown"
        assert self.card.risk != "critical", "critical is typed"
        if self.card.risk in ("high", "unknown"):
            assert outcome.confirmed
            assert (outcome.request, outcome.intent) in self.asked

    @invariant()
    def a_key_decides_at_most_once(self) -> None:
        decisive = [name for _, name in self.keys if name in DECISION_KEYS]
        assert len(self.commits) <= len(decisive)


TestAnyOperator = AnyOperator.TestCase
TestAnyOperator.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
