"""The registry of keys: footer, help and configuration agree, and hints are whole or absent."""

from __future__ import annotations

import re
from typing import get_args

import msgspec
import pytest
from textual.events import Key as KeyEvent

from tests.ui.picture import critical_request, high_request
from watchgate.core.model.records import RequestData
from watchgate.ui.approval.operator import INTENTS
from watchgate.ui.commands.actions import ACTIONS
from watchgate.ui.commands.key_registry import FOOTERS, KEYS, footer
from watchgate.ui.keys.keymap import PAIRS, Context, Group, Hint, Keymap, Where, fitted, name_of
from watchgate.ui.widgets.text_pages import TOGETHER, rows

KEYMAP = Keymap(KEYS)
CRITICAL = Context(docked=critical_request().data, agent="claude", pending=2, rows=9)


def words(context: Context, cells: int) -> str:
    """The footer as a reader sees it."""
    hints = KEYMAP.hints(footer(context), context, cells)
    return "  ".join(f"{h.key} {h.label}" if h.enabled else f"({h.key} {h.label})" for h in hints)


def test_every_key_that_acts_has_an_action_or_decides() -> None:
    assert {key.id for key in KEYS} == set(ACTIONS)
    assert {key.id for key in KEYMAP.group("decide")} == set(INTENTS)


def test_every_footer_is_made_of_keys_of_the_registry() -> None:
    there = {key.id for key in KEYS} | set(PAIRS)
    assert {action for actions in FOOTERS.values() for action in actions} <= there


@pytest.mark.parametrize("where", get_args(Where))
@pytest.mark.parametrize("docked", [None, critical_request().data])
def test_every_place_offers_help_or_the_way_back(where: Where, docked: RequestData | None) -> None:
    plain = Context(where=where, docked=docked, agent="claude")
    for fact in ("lost", "off", "empty", "tiny"):
        context = msgspec.structs.replace(plain, **{fact: True})
        assert {"help", "back"} & set(footer(context))
        assert "deny" in footer(context) or docked is None or where == "commands"


def test_the_footer_says_what_a_press_will_do() -> None:
    assert words(CRITICAL, 120).startswith("a allow, type yes  d deny  r deny, reply")
    high = Context(docked=high_request().data, agent="codex", rows=9)
    assert words(high, 120).startswith("a allow, twice")


def test_a_hint_is_dropped_whole_and_help_never() -> None:
    for cells in range(20, 161):
        shown = words(Context(docked=critical_request().data, agent="claude", cells=cells), cells)
        assert len(shown) < cells or cells < 26, cells
        assert "? help" in shown, cells
        assert "d deny" in shown, cells


@pytest.mark.parametrize("cells", [60, 80, 120])
def test_the_page_of_a_request_offers_help_and_the_way_back(cells: int) -> None:
    page = Context(
        docked=critical_request().data, agent="claude", where="detail", cells=cells, pending=2
    )
    shown = words(page, cells)
    assert shown.startswith("Esc close  d deny")
    assert "? help" in shown
    assert ("b hand back" in shown) is (cells == 120)


def test_keys_that_do_nothing_now_stand_in_parentheses() -> None:
    quiet = Context(rows=9)
    assert words(quiet, 120).startswith("(a allow)  (d deny)  Enter detail")


def test_an_armed_handback_says_so_at_every_width() -> None:
    data = critical_request().data
    armed = Context(
        docked=msgspec.structs.replace(data, runs_unasked=True, risk="high", mode="auto"),
        agent="claude",
    )
    assert "b hand back: Claude runs it, twice" in words(armed, 140)


def test_a_key_can_be_moved_by_its_id() -> None:
    keymap = Keymap(KEYS, {"deny": "N"})
    assert keymap.named("N") is keymap["deny"]
    assert keymap.named("d") is None
    assert keymap["deny"].shown == "N"


def test_several_keys_can_do_the_same() -> None:
    keymap = Keymap(KEYS, {"down": "m down"})
    assert keymap.named("m") is keymap.named("down") is keymap["down"]
    assert keymap.named("j") is None


def test_a_key_means_one_thing_at_one_place_and_may_mean_another_elsewhere() -> None:
    assert KEYMAP.named("s", "costs") is KEYMAP["sort"]
    assert KEYMAP.named("s", "monitor") is KEYMAP["sessions"]
    assert KEYMAP.named("w", "monitor") is KEYMAP["window"]
    assert KEYMAP["window"].reason(Context()) == "costs of 1, 7 or 30 days: only in the costs"
    moved = Keymap(KEYS, {"replay": "w"})
    assert moved.named("w", "history") is moved["replay"]
    with pytest.raises(ValueError, match="'w' is both sort and window"):
        Keymap(KEYS, {"sort": "w"})


@pytest.mark.parametrize(
    ("action", "key", "says"),
    [
        ("deny", "enter", "decides: Enter, Esc and ctrl+c never do that"),
        ("allow", "escape", "decides: Enter, Esc and ctrl+c never do that"),
        ("allow", "y", "n and y never decide"),
        ("deny", "n", "n and y never decide"),
        ("theme", "y", "n and y never decide"),
        ("allow", "F f", "decides, it takes one key"),
        ("deny", "dd", "no terminal sends 'dd': a key is a character"),
        ("copy", "Ctrl+K", "did you mean 'ctrl+k'?"),
        ("copy", "C-k", "did you mean 'ctrl+k'?"),
        ("copy", "shift+k", "did you mean 'K'?"),
        ("copy", "esc", "did you mean 'escape'?"),
        ("copy", "PgUp", "did you mean 'pageup'?"),
        ("copy", "ctrl+m", "no terminal sends 'ctrl+m'"),
        ("copy", "super+k", "no terminal sends 'super+k'"),
        ("copy", "", "needs a key"),
        ("copy", " ", "needs a key"),
    ],
)
def test_a_key_that_no_terminal_sends_or_that_may_not_decide_is_refused(
    action: str, key: str, says: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        Keymap(KEYS, {action: key})


@pytest.mark.parametrize("name", ["F", "f5", "ctrl+k", "shift+up", "ctrl+shift+end", "ü"])
def test_a_key_can_be_put_on_whatever_a_terminal_sends(name: str) -> None:
    assert Keymap(KEYS, {"copy": name}).named(name, "monitor")


def test_footer_help_and_documents_follow_a_moved_key() -> None:
    keymap = Keymap(KEYS, {"deny": "F", "down": "m"})
    hints = keymap.hints(footer(CRITICAL), CRITICAL, 120)
    assert ("F", "deny") in [(hint.key, hint.label) for hint in hints]
    moved = msgspec.structs.replace(CRITICAL, where="costs", items=3)
    assert "m/k" in [hint.key for hint in keymap.hints(footer(moved), moved, 160)]
    assert rows(keymap, "decide")[0].names == ("F",)


def test_the_words_of_help_fit_the_columns_of_eighty_cells() -> None:
    room: dict[Group, int] = {
        "decide": 32,
        "look": 32,
        "move": 26,
        "find": 26,
        "leave": 26,
        "other": 26,
    }
    for group, cells in room.items():
        for row in rows(KEYMAP, group):
            assert len(row.help) <= cells, row
            assert len(row.note) <= cells, row


def test_the_lines_of_help_tell_every_key_once_or_more() -> None:
    told = [name for group in get_args(Group) for row in rows(KEYMAP, group) for name in row.names]
    for key in KEYS:
        assert key.shown in told
    for ids in TOGETHER:
        assert all(KEYMAP[action] for action in ids)


def test_an_unknown_action_and_a_key_taken_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="no action 'denny'; there are deny, reply"):
        Keymap(KEYS, {"denny": "N"})
    with pytest.raises(ValueError, match="'a' is both"):
        Keymap(KEYS, {"deny": "a"})


@pytest.mark.parametrize(
    ("key", "character", "name"),
    [
        ("question_mark", "?", "?"),
        ("A", "A", "A"),
        ("space", " ", "space"),
        ("tab", "\t", "tab"),
        ("ctrl+p", "\x10", "ctrl+p"),
    ],
)
def test_a_key_is_named_as_a_person_types_it(key: str, character: str, name: str) -> None:
    assert name_of(KeyEvent(key, character)) == name


def test_hints_of_a_prompt_are_dropped_whole_and_its_way_out_never() -> None:
    hints = [
        Hint("a", "allow, always", enabled=True),
        Hint("e", "edit the rule", enabled=True),
        Hint("Esc", "not now", enabled=True),
    ]
    for cells in range(10, 80):
        kept = fitted(hints, cells)
        assert kept[-1] == hints[-1], cells
        assert sum(each.cells + 2 for each in kept) <= cells or len(kept) == 1, cells
        assert cells < 48 or list(kept) == hints, cells


def test_every_reason_why_a_key_does_nothing_can_be_read() -> None:
    grave = msgspec.structs.replace(critical_request().data, offered=("deny",))
    context = Context(docked=grave, agent="claude", pending=1, rows=9)
    for action in ("allow_more", "edit", "mark"):
        assert KEYMAP[action].why_not(context) == "Claude takes no allow for this"
    open_ = msgspec.structs.replace(context, docked=critical_request().data)
    assert KEYMAP["allow_more"].why_not(open_) == (
        "this request can only be allowed once: it is critical"
    )
    assert KEYMAP["mark"].why_not(open_) == "only low and medium requests are allowed together"


def test_at_80_columns_the_footer_has_every_way_to_decide() -> None:
    data = msgspec.structs.replace(
        high_request().data, risk="medium", findings=(), scopes=("once", "turn"),
        offered=("allow", "deny", "handback", "edit"),
    )  # fmt: skip
    context = Context(docked=data, agent="claude", pending=1, rows=9, cells=80)
    assert words(context, 80) == (
        "a allow  d deny  r reply  A more  e edit  b hand back  v all  Tab next  ? help"
    )


def test_deny_outlasts_an_allow_that_would_not_act() -> None:
    tiny = msgspec.structs.replace(CRITICAL, tiny=True)
    assert [hint.key for hint in KEYMAP.hints(footer(tiny), tiny, 20)] == ["d", "?"]
