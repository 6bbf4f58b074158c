"""Every key moved at once: whatever names one, on any screen, names the key that does it."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from tests.ui.asked import CHECKS, STORE, plan, question
from tests.ui.console_bench import OPTIONS, Bench, running
from tests.ui.open_requests import asked, pending
from tests.ui.picture import busy, critical_request, first_run, high_request, quiet, switched_off
from tests.ui.trace_picture import traced
from watchgate.link.protocol import Result, Snapshot
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.keys.keymap import Keymap

GREEK = "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ" + "бвгджзийлпфцчшщэюяБДЖЗИЛЦЧШЩЭЮЯ"
MOVED = dict(zip((key.id for key in KEYS if key.keys), GREEK, strict=False))
OPTIONS_MOVED = msgspec.structs.replace(OPTIONS, keys=MOVED, log_lines=lambda: ["a line"])

DOES = (
    "denies|declines|allows|approves|answers|opens|opened|shows|to view|goes|leaves|down|turns on"
    "|lists|starts|covers|switches|copies|play|connect|its payload|closes|clears|again|scroll|then"
)
OLD = re.compile(
    rf"(?<![\w'\"/.-])(?:[adDrXebtvuoczsjkgGqlxiORwp]|PgUp|PgDn|[1-5]) (?:{DOES})\b"
    rf"|(?<!\w)(?:Enter|Esc) (?:shows all|goes there|closes|clears)\b"
)
Picture = Callable[[], Snapshot]


def long() -> Snapshot:
    """A request that does not fit the dock, nor a small screen."""
    return pending(asked("\n".join(f"echo {number}" for number in range(80)), risk="medium"))


def only_denied() -> Snapshot:
    return pending(asked(offered=("allow", "deny")))


SEEN: list[tuple[Picture, tuple[int, int], tuple[str, ...], str]] = [
    (long, (80, 24), (), "lines, {view} to view"),
    (long, (80, 24), ("view",), "{down} down"),
    (long, (80, 24), ("view", "bottom"), "{page_up} goes there"),
    (long, (80, 24), ("allow",), "{allow} allows once all was shown, {deny} denies"),
    (long, (80, 24), ("view", "allow"), "{page_up} and {page_down} go through it"),
    (only_denied, (120, 40), ("approvals",), "{view} shows the payload"),
    (long, (120, 40), ("approvals",), "{page_down} down"),
    (busy, (48, 12), (), "{deny} denies; to allow you must see the whole request"),
    (only_denied, (120, 40), ("deny_stop",), "{deny} denies, {reply} says why"),
    (only_denied, (120, 40), ("edit",), "{reply} denies and says why"),
    (lambda: pending(high_request()), (120, 40), ("allow",), "{allow} again allows it"),
    (lambda: pending(critical_request()), (120, 40), ("allow",), "{deny} deny"),
    (lambda: pending(critical_request()), (120, 40), ("allow", "x"), "{deny} denies, Esc leaves"),
    (lambda: question(STORE), (120, 40), (), "{allow} answers: "),
    (lambda: question(STORE, CHECKS), (80, 24), ("allow",), "{allow} answers"),
    (plan, (120, 40), (), "{reply} denies with words"),
    (only_denied, (120, 40), ("y",), "{allow} allows, {deny} denies"),
    (only_denied, (120, 40), ("reply", "enter"), "{deny} denies without a reply"),
    (only_denied, (120, 40), ("allow_more",), "{allow} allow, this turn"),
    (only_denied, (120, 40), ("freeze",), "{freeze} goes on"),
    (switched_off, (80, 24), (), "{gate_on} switches the gate on now"),
    (first_run, (80, 24), ("install",), "{copy} copies it"),
    (first_run, (80, 24), ("traces",), "{copy} copies these lines"),
    (quiet, (120, 40), ("up",), "{bottom} turns it on"),
    (quiet, (120, 40), ("help",), "mark; {allow} then allows"),
    (quiet, (120, 40), ("approvals",), "{monitor} shows the live calls"),
    (quiet, (120, 40), ("log",), "{back} closes it"),
    (traced, (80, 24), ("traces", "detail"), "{page_down}"),
]


async def press(bench: Bench, *actions: str) -> None:
    """Press the moved keys of actions, or keys that a prompt reads."""
    await bench.press(*(MOVED.get(action, action) for action in actions))


@pytest.mark.parametrize(
    ("picture", "size", "keys", "words"), SEEN, ids=[f"{n} {s[3]}" for n, s in enumerate(SEEN)]
)
async def test_what_names_a_key_names_the_moved_one(
    picture: Picture, size: tuple[int, int], keys: tuple[str, ...], words: str
) -> None:
    async with running(picture(), size=size, options=OPTIONS_MOVED) as bench:
        await press(bench, *keys)
        said = " ".join(f"{bench.app.desk.note} {bench.screen}".split())
        assert words.format_map(MOVED) in said
        assert not OLD.findall(said)


@pytest.mark.parametrize("picture", [busy, quiet, first_run, switched_off])
async def test_no_screen_names_a_key_as_it_was(picture: Picture) -> None:
    async with running(picture(), options=OPTIONS_MOVED) as bench:
        for place in ("monitor", "approvals", "traces", "costs", "history", "help"):
            await press(bench, place)
            assert not OLD.findall(bench.screen), place
            assert f"{MOVED['approvals']} Approvals" in bench.screen
            for hint in bench.app.moment().hints:
                assert set(hint.key.replace("/", "")) <= set(GREEK), hint


async def test_a_lost_core_offers_the_moved_keys() -> None:
    async with running(busy(), size=(80, 24), options=OPTIONS_MOVED) as bench:
        bench.source.lose()
        await bench.until(lambda: "CORE LOST" in bench.screen)
        await bench.settle()
        assert f"{MOVED['log']} shows the last lines" in bench.screen
        assert not OLD.findall(bench.screen)


async def test_the_typed_yes_denies_on_the_moved_key_alone() -> None:
    async with running(pending(critical_request()), options=OPTIONS_MOVED) as bench:
        await press(bench, "allow", "d")
        assert not bench.source.asked
        await press(bench, "deny")
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].decision == "deny"


async def test_the_rule_is_edited_on_the_moved_key_and_scrolled_with_it() -> None:
    every = ("turn", "session", "15m", "always")
    async with running(pending(asked(scopes=("once", *every))), options=OPTIONS_MOVED) as bench:
        rule = {"effect": "allow", "words": ["npm", "run"], "more": True}
        bench.source.answer = lambda request: Result(id=request.id, ok={"rules": [rule]})
        await press(bench, "allow_more", "4")
        assert f"{MOVED['edit']} edit the rule" in bench.screen
        await press(bench, "e")
        assert "take the rule" not in bench.screen


def test_what_chooses_in_a_prompt_is_no_deciding_key() -> None:
    for key in "1234":
        with pytest.raises(ValueError, match="1 to 4 choose how far an allow reaches"):
            Keymap(KEYS, {"monitor": "F", "approvals": "B", "traces": "C", "costs": "H",
                          "allow": key})  # fmt: skip
