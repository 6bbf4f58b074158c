"""Every key of the registry pressed in a running console, and every reason why one does nothing."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.ui.asked import STORE, plan, question
from tests.ui.console.test_popup_app import popup
from tests.ui.console_bench import LOCKED, OPTIONS, Bench, running
from tests.ui.cost_picture import spending
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.open_requests import FIRST, SECOND, asked, pending
from tests.ui.past_picture import answering, past
from tests.ui.picture import NOW_US, busy, first_run, long, quiet, switched_off
from tests.ui.replay_bench import REFUSED
from tests.ui.trace_picture import traced
from watchgate.link.protocol import Snapshot
from watchgate.ui.approval.consequences import _beyond_once, blocked
from watchgate.ui.commands import key_reasons
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.keys.keymap import Key, Keymap
from watchgate.ui.screens.screen_frame import Frame

KEYMAP = Keymap(KEYS)
NAMES = {
    "?": "question_mark",
    ":": "colon",
    "'": "apostrophe",
    "/": "slash",
    "]": "right_square_bracket",
    "[": "left_square_bracket",
}
LOG = msgspec.structs.replace(OPTIONS, log_lines=lambda: ["a line of the log"])
Look = Callable[[Bench], object]


def where(bench: Bench) -> str:
    """Which screen is shown."""
    frame = bench.app.screen
    assert isinstance(frame, Frame)
    return frame.where


def decided(decision: str, request: str = FIRST) -> Look:
    """The core was asked for this."""
    return lambda bench: any(
        (each.verb, each.decision, each.request) == ("decide", decision, request)
        for each in bench.source.asked
    )


def at(place: str) -> Look:
    """This screen is shown."""
    return lambda bench: where(bench) == place


def says(text: str) -> Look:
    """This is on the screen."""
    return lambda bench: text in bench.screen


def prompt(name: str) -> Look:
    """This prompt has the keys."""
    return lambda bench: type(bench.app.focused).__name__ == name


def cursor(place: int) -> Look:
    """The cursor of the calls is on this line, counted from the end."""
    return lambda bench: (
        bench.app.monitor.table.selected
        is bench.app.bridge.state.rows[bench.app.bridge.state.rows.end + place]
    )


def two(**facts: Any) -> Snapshot:
    """Two requests that are alike, of medium risk, for which everything is offered."""
    every = ("allow", "deny", "handback", "edit", "stop")
    return pending(
        asked(offered=every, **facts), asked("npm run build --watch", id=SECOND, offered=every)
    )


def secret() -> Snapshot:
    """A request with a secret in it."""
    command = {"command": f"curl -H 'Authorization: Bearer sk-ant-{'a1' * 20}' host"}
    return two(tool=msgspec.structs.replace(asked().data.tool, input=command))


def once() -> Snapshot:
    """A request that can only be allowed once."""
    return pending(asked(scopes=("once",)))


ACTS: list[tuple[str, Callable[[], Snapshot], tuple[str, ...], Look]] = [
    ("deny", two, ("d",), decided("deny")),
    ("reply", two, ("r",), prompt("ReplyPrompt")),
    ("deny_stop", two, ("X",), lambda b: decided("deny")(b) and b.source.asked[-1].stop),
    ("deny_all", two, ("D", "D"), decided("deny", SECOND)),
    ("allow", two, ("a",), decided("allow")),
    ("handback", two, ("b",), decided("handback")),
    ("more_time", two, ("t",), lambda b: b.source.asked[-1].verb == "extend"),
    ("allow_more", two, ("A",), prompt("GrantPrompt")),
    ("edit", two, ("e",), prompt("EditPrompt")),
    ("mark", two, ("space",), lambda b: b.app.operator.marks.ids == {FIRST}),
    ("view", two, ("v",), at("detail")),
    ("view", two, ("v", "v"), at("payload")),
    ("detail", quiet, ("enter",), at("call")),
    ("back", quiet, ("?", "escape"), at("monitor")),
    ("reveal", secret, ("u",), lambda b: b.app.desk.bare),
    ("next", two, ("tab",), lambda b: b.app.desk.docked == SECOND),
    ("next", two, ("]",), lambda b: b.app.desk.docked == SECOND),
    ("previous", two, ("[",), lambda b: b.app.desk.docked == SECOND),
    ("previous", two, ("shift+tab",), lambda b: b.app.desk.docked == SECOND),
    ("copy", quiet, ("c",), says("copied")),
    ("monitor", quiet, ("3", "1"), at("monitor")),
    ("approvals", two, ("2",), at("approvals")),
    ("traces", traced, ("3",), at("traces")),
    ("costs", quiet, ("4",), at("costs")),
    ("history", quiet, ("5",), at("history")),
    ("down", quiet, ("k", "k", "j"), cursor(-2)),
    ("down", quiet, ("k", "k", "down"), cursor(-2)),
    ("up", quiet, ("k",), cursor(-2)),
    ("up", quiet, ("up",), cursor(-2)),
    ("top", quiet, ("g",), lambda b: b.app.monitor.table.selected is b.app.bridge.state.rows[0]),
    ("top", quiet, ("home",), lambda b: b.app.monitor.table.selected is b.app.bridge.state.rows[0]),
    ("bottom", quiet, ("g", "G"), lambda b: cursor(-1)(b) and b.app.monitor.table.follow),
    ("bottom", quiet, ("g", "end"), cursor(-1)),
    ("page_up", quiet, ("pageup",), lambda b: not cursor(-1)(b)),
    ("page_down", quiet, ("g", "pagedown", "pagedown"), cursor(-1)),
    ("sort", spending, ("4", "s"), says("by tokens")),
    ("window", spending, ("4", "w"), says("7 days")),
    ("half_up", quiet, ("ctrl+u",), cursor(-14)),
    ("half_down", quiet, ("ctrl+u", "ctrl+d"), cursor(-1)),
    ("jump", quiet, ("'",), prompt("JumpPrompt")),
    ("sessions", quiet, ("s",), lambda b: b.app.monitor.listed),
    ("sessions", quiet, ("3", "s"), lambda b: b.app.monitor.listed and where(b) == "monitor"),
    ("freeze", quiet, ("z",), says("FROZEN at")),
    ("filter", quiet, ("/",), prompt("FilterBar")),
    ("filter", quiet, ("?", "/"), at("commands")),
    ("commands", quiet, (":",), at("commands")),
    ("commands", quiet, ("ctrl+p",), at("commands")),
    ("help", quiet, ("?",), at("help")),
    ("detach", quiet, ("q",), lambda b: b.app.return_value),
    ("leave", quiet, ("ctrl+c", "ctrl+c"), lambda b: b.app.return_value),
    ("gate_off", quiet, (":", "o", "f", "f", "enter"), prompt("WordPrompt")),
    ("gate_on", switched_off, ("O",), lambda b: b.source.asked[-1].verb == "on"),
    ("stop", quiet, (":", "s", "t", "o", "p", "enter"), prompt("WordPrompt")),
    ("log", quiet, ("l",), says("a line of the log")),
    ("install", quiet, ("i",), says("in a shell:")),
    ("terminal", two, ("o",), lambda b: b.app.desk.note),
    ("unlock_other", quiet, (":", *"code", "enter"), prompt("ProofPrompt")),
    ("theme", quiet, (":", *"theme", "enter"), lambda b: b.app.theme != "watchgate-dark"),
    ("theme_light", quiet, (":", *"light", "enter"), lambda b: "light" in b.app.theme),
    ("theme_dark", quiet, (":", *"dark", "enter"), lambda b: "dark" in b.app.theme),
    ("theme_mono", quiet, (":", *"mono", "enter"), lambda b: "mono" in b.app.theme),
]  # fmt: skip
"""The key's id, the picture, the keys that are pressed, and what must come of it."""


@pytest.mark.parametrize(
    ("action", "picture", "keys", "look"), ACTS, ids=[f"{a} {''.join(k)}" for a, _, k, _ in ACTS]
)
async def test_every_key_does_what_it_says(
    action: str, picture: Callable[[], Snapshot], keys: tuple[str, ...], look: Look
) -> None:
    async with running(picture(), options=LOG) as bench:
        await bench.press(*(NAMES.get(key, key) for key in keys))
        await bench.until(lambda: look(bench))


async def test_the_key_that_unlocks_opens_the_prompt() -> None:
    async with running(quiet(), presence=LOCKED) as bench:
        await bench.press("U")
        await bench.until(lambda: prompt("ProofPrompt")(bench))


async def test_a_lost_core_is_started() -> None:
    started: list[bool] = []

    async def start() -> None:
        started.append(True)

    options = msgspec.structs.replace(OPTIONS, start_core=start)
    async with running(busy(), options=options) as bench:
        bench.source.lose()
        await bench.until(lambda: "CORE LOST" in bench.screen)
        await bench.press("R")
        await bench.until(lambda: started)


async def test_the_demo_is_played_and_left() -> None:
    async def open_demo() -> tuple[FakeSource, FakeClock]:
        return FakeSource(busy()), FakeClock(NOW_US)

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options) as bench:
        await bench.press("x")
        await bench.until(lambda: "DEMO" in bench.screen)
        await bench.press("q")
        await bench.until(lambda: "No agent is connected yet." in bench.screen)


APART = {
    "start": test_a_lost_core_is_started,
    "demo": test_the_demo_is_played_and_left,
    "unlock": test_the_key_that_unlocks_opens_the_prompt,
}
"""Keys that have a test of their own."""

PLAYING = {"replay", *(key.id for key in KEYS if key.group == "replay")}
"""Keys that play a recording, which are pressed in `test_replay_console.py`."""


def test_no_key_is_left_out() -> None:
    assert {action for action, *_ in ACTS} | set(APART) | PLAYING == {key.id for key in KEYS}
    pressed = {key for _, _, keys, _ in ACTS for key in keys}
    for action in {each for each, *_ in ACTS}:
        assert set(KEYMAP[action].keys) <= pressed, action


def only(*offered: str) -> Callable[[], Snapshot]:
    """One request for which only these decisions are offered."""
    return lambda: pending(asked(offered=offered))


SMALL, USUAL = (48, 12), (120, 40)
REASONS: list[tuple[Callable[[], Snapshot], tuple[int, int], tuple[str, ...], str]] = [
    (quiet, USUAL, ("a",), "nothing is pending"),
    (quiet, USUAL, ("space",), "nothing is pending"),
    (quiet, USUAL, ("tab",), "nothing is pending"),
    (quiet, USUAL, ("u",), "nothing is pending"),
    (quiet, USUAL, ("2", "enter"), "nothing is pending"),
    (quiet, USUAL, ("2", "'"), "nothing is pending"),
    (busy, SMALL, ("a",), "to allow you must see the whole request: 60 by 16 cells"),
    (only("deny"), USUAL, ("a",), "Claude takes no allow for this"),
    (only("deny"), USUAL, ("e",), "Claude takes no allow for this"),
    (only("allow"), USUAL, ("d",), "Claude takes no denial here"),
    (only("allow", "deny"), USUAL, ("X",),
     "Claude cannot be told to end its turn: d denies, r says why"),
    (only("allow", "deny"), USUAL, ("b",), "Claude has no prompt of its own for this"),
    (only("allow", "deny"), USUAL, ("e",),
     "Claude takes no other input than its own: r denies and says why"),
    (once, USUAL, ("A",), "this request can only be allowed once"),
    (busy, USUAL, ("A",), "this request can only be allowed once: it is critical"),
    (plan, USUAL, ("A",), "a plan is answered once"),
    (long, (80, 24), ("v", "a"),
     "not all of it was on the screen yet: PgUp and PgDn go through it"),
    (lambda: question(STORE), USUAL, ("A",), "takes no allow for this"),
    (busy, USUAL, ("space",), "only low and medium requests are allowed together"),
    (only("allow", "deny"), USUAL, ("space",), "no other open request is like this one"),
    (only("allow", "deny"), USUAL, ("u",), "no secret is covered in this request"),
    (first_run, USUAL, ("enter",), "no call to show yet"),
    (first_run, USUAL, ("v",), "no call to show yet"),
    (first_run, USUAL, ("3", "enter"), "no trace to show yet"),
    (first_run, USUAL, ("3", "'"), "no trace to jump to yet"),
    (first_run, USUAL, ("4", "enter"), "no session to open"),
    (first_run, USUAL, ("4", "s"), "no session to sort"),
    (first_run, USUAL, ("4", "c"), "nothing to copy yet"),
    (first_run, USUAL, ("4", "'"), "no line to jump to yet"),
    (first_run, USUAL, ("5", "enter"), "no call to open"),
    (quiet, USUAL, ("5", "enter", "enter"), "this is the whole timeline"),
    (first_run, USUAL, ("'",), "no call to jump to yet"),
    (first_run, USUAL, ("s",), "no call to show yet"),
    (quiet, SMALL, ("s",), "no room for the sessions: 60 by 16 cells"),
    (quiet, SMALL, ("'",), "no room for labels: 60 by 16 cells"),
    (quiet, USUAL, ("?", "enter"), "no line to open on this page"),
    (quiet, USUAL, ("?", "'"), "no line to jump to on this page"),
    (quiet, USUAL, ("2", "/"), "no list to filter here: the monitor, traces and history have one"),
    (quiet, USUAL, ("2", "c"), "nothing to copy yet"),
    (quiet, USUAL, ("l", "/"), "the log is not filtered here"),
    (quiet, USUAL, ("w",), "costs of 1, 7 or 30 days: only in the costs"),
    (quiet, USUAL, ("p",), "play its session again: only in the history"),
    (quiet, USUAL, (",",), "a record back: only in a replay"),
    (first_run, USUAL, ("5", "p"), "no call to play"),
    (quiet, USUAL, ("R",), "the core is running"),
    (quiet, USUAL, ("O",), "the gate is on"),
    (quiet, USUAL, ("U",), "this terminal may allow, it is not locked"),
    (switched_off, USUAL, (":", *"gate_off", "enter"), "the gate is off already"),
    (busy, USUAL, ("x",), "not while a request is open: the demo would hide it"),
    (quiet, USUAL, ("x",), "this console has no demo: run `watchgate demo`"),
    (two, USUAL, (":", *"deny", "enter"), "a request is decided by its own key"),
]  # fmt: skip
"""The picture, the size, the keys, and what the console says then."""


@pytest.mark.parametrize(
    ("picture", "size", "keys", "reason"),
    REASONS,
    ids=[f"{''.join(k)} {r}" for _, _, k, r in REASONS],
)
async def test_a_key_that_does_nothing_says_why(
    picture: Callable[[], Snapshot], size: tuple[int, int], keys: tuple[str, ...], reason: str
) -> None:
    async with running(picture(), size=size, options=LOG) as bench:
        bench.source.answer = answering(past() if picture is quiet else ())
        await bench.press(*(NAMES.get(key, key) for key in keys))
        said = " ".join(f"{bench.app.desk.note} {bench.screen}".split())
        assert reason in said
        assert not [each for each in bench.source.asked if each.verb == "decide"]


LOST = [
    ("d", "the core is lost, nothing can be decided here"),
    ("O", "the core is lost"),
    ("R", "this console cannot start it: run `watchgate serve`"),
    ("l", "its log is not on this machine"),
]


@pytest.mark.parametrize(("key", "reason"), LOST)
async def test_a_key_that_a_lost_core_kills_says_so(key: str, reason: str) -> None:
    async with running(busy(), size=(80, 24)) as bench:
        bench.source.lose()
        await bench.until(lambda: "CORE LOST" in bench.screen)
        await bench.press(key)
        assert reason in bench.app.desk.note


async def test_the_demo_has_reasons_of_its_own() -> None:
    options = msgspec.structs.replace(OPTIONS, demo=True)
    async with running(quiet(), options=options) as bench:
        await bench.press("x")
        assert bench.app.desk.note == "this is the demo; q leaves it"
        bench.app.perform("gate_off")
        assert bench.app.desk.note == "the demo has no agents that could be let go"
        await bench.press("U")
        assert bench.app.desk.note == "nothing has to be unlocked in the demo"


POPUP = [
    ("enter", "Enter decides nothing: the keys below do"),
    ("'", "no line to jump to: the popup shows one request"),
    ("1", "the popup shows one request: `watchgate` shows the rest"),
    ("/", "the popup shows one request: `watchgate` shows the rest"),
    ("z", "the popup shows this request alone; `watchgate` opens the console"),
]


@pytest.mark.parametrize(("key", "reason"), POPUP)
async def test_the_popup_says_what_it_does_not_do(key: str, reason: str) -> None:
    async with popup(two()) as bench:
        await bench.press(NAMES.get(key, key))
        assert bench.app.desk.note == reason
        assert not bench.source.asked


WAITS = "locked: this waits until this terminal is unlocked"
"""It needs a locked terminal: presence/test_unlocking.py presses the key there."""

SAID_BY = (key_reasons, blocked, _beyond_once, Key.reason)
"""Whatever a key says that does nothing comes from these."""

LABELS = (
    key_reasons.allow_words,
    key_reasons.backs,
    key_reasons.copies,
    key_reasons.deny_words,
    key_reasons.filters,
    key_reasons.handback_words,
    key_reasons.leaves,
    key_reasons.opens,
    key_reasons.reply_words,
)
"""These say what a key would do, for the footer."""


def test_no_reason_is_left_out() -> None:
    """Each sentence in them is one of those above, word by word."""
    told = [*(reason for *_, reason in REASONS), *(reason for _, reason in (*LOST, *POPUP))]
    told += [*REFUSED.values(), "a replay: nothing is decided here", "this is a replay already"]
    told += ["the core is lost, and with it the way to its records", WAITS]
    told += [
        "nothing has to be unlocked in the demo",
        "this is the demo; q leaves it",
        "the demo has no agents that could be let go",
    ]
    labels = {label for made in LABELS for label in _sentences(made)}
    for made in SAID_BY:
        for sentence in _sentences(made) - labels:
            assert any(re.search(sentence, reason) for reason in told), sentence


def _sentences(made: Any) -> set[str]:
    """The sentences in it, as expressions: strings with a blank in them that are no docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(made)))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in ast.walk(node) if part is not node}
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    whole = [node for node in (*plain, *joined) if id(node) not in docs | parts]
    texts = ["".join(map(_expression, getattr(node, "values", [node]))) for node in whole]
    return {text for text in texts if "\\ " in text}


def _expression(part: ast.expr) -> str:
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
