"""Pages of text that scroll: the help with every key and mark, and the end of the core's log.

- The lines in which help and documents tell the keys: what belongs together is one line.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.outcomes import GLYPHS
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.cost_sums import LEGEND
from watchgate.ui.keys.keymap import Group, Key, Keymap
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_text import plain

TOGETHER: dict[tuple[str, ...], tuple[str, str]] = {
    ("monitor", "approvals", "traces", "costs", "history"): (
        "the five screens",
        "the screens: monitor, approvals, traces, costs, history",
    ),
    ("down", "up", "top", "bottom"): (
        "down, up, first, newest",
        "down, up, the first line, the newest; arrows, `Home` and `End` as well",
    ),
    ("page_down", "page_up"): ("a page down, up", "a page down, a page up"),
    ("half_down", "half_up"): ("half a page down, up", "half a page down, half a page up"),
    ("next", "previous"): ("next, previous pending", "next, previous held request"),
    ("step_back", "step_on"): ("a record back, on", "in a replay: a record back, a record on"),
    ("call_back", "call_on"): ("a call back, on", "in a replay: to the call before, the next call"),
    ("request_back", "request_on"): (
        "a request back, on",
        "in a replay: to the request before, the next request",
    ),
    ("minute_back", "minute_on"): (
        "a minute back, on",
        "in a replay: a minute back, a minute on",
    ),
    ("film_start", "film_end"): ("the start, the end", "in a replay: the start, the end"),
    ("slower", "faster"): ("slower, faster", "in a replay: slower, faster"),
    ("detach", "leave"): (
        "leave; asks if core ends",
        "leave, the core goes on; with `--host` it ends, so `q` asks once, as `ctrl+c` always does",
    ),
}
"""Keys that share a line: the words of the help page, and those of a document."""

FOLLOWS = "follow; scrolling up: off"


class KeyRow(msgspec.Struct, frozen=True):
    """One line: the keys, what help says, the line below it, and what a document says."""

    names: tuple[str, ...]
    help: str
    note: str = ""
    does: str = ""


def rows(keymap: Keymap, group: Group) -> list[KeyRow]:
    """The lines of a group, in the order of the registry."""
    lines = []
    for key in keymap.group(group):
        together = next((ids for ids in TOGETHER if key.id in ids), None)
        if together is None:
            lines.append(KeyRow(_names(key), key.help, key.note, key.does or key.help))
        elif key.id == together[0]:
            names = tuple(name for action in together for name in _names(keymap[action]))
            helps, does = TOGETHER[together]
            lines.append(KeyRow(names, helps, "", does))
            if "bottom" in together:
                newest = keymap["bottom"]
                lines.append(KeyRow((newest.shown,), FOLLOWS, "", newest.does))
    return lines


def _names(key: Key) -> tuple[str, ...]:
    """Writes its keys, the arrows and their like left out where there is a letter."""
    written = (key.shown, *(name for name in key.keys[1:] if name not in _REDUNDANT))
    return tuple(dict.fromkeys(written))


_REDUNDANT = frozenset({"down", "up", "home", "end", "shift+tab"})


class LogPage(Pane):
    """Lines, the newest at the bottom; it scrolls."""

    DEFAULT_CSS = "LogPage { height: 1fr; }"

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self._lines = [safe_text(line) for line in lines]
        self._up = 0

    def _wrapped(self, cells: int) -> list[str]:
        """Returns the lines as they fit, none of them cut."""
        return [
            "".join(piece.text for piece in row)
            for line in self._lines
            for row in plain(line, max(8, cells - 3))
        ]

    def move(self, lines: int) -> None:
        """Scrolls by so many lines."""
        highest = max(0, len(self._wrapped(self.size.width)) - self.size.height)
        self._up = min(max(0, self._up - lines), highest)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if not self._lines:
            return [self.line(), self.line().add("  The core's log is empty.", "dim")]
        lines = self._wrapped(cells)
        end = len(lines) - min(self._up, max(0, len(lines) - rows))
        return [self.line().add(f"  {text}") for text in lines[max(0, end - rows) : end]]


KEY_CELLS = 10
MANY = 4
"""More keys than this are named by the first and the last."""

COLUMNS = (2, 47, 88)
NARROW_COLUMNS = (2, 44)
SECTIONS: tuple[tuple[Group, str], ...] = (
    ("decide", "decide on the request in the dock"),
    ("look", "look at it"),
    ("move", "move"),
    ("find", "find"),
    ("leave", "leave"),
    ("other", "when it is offered"),
)
REPLAY: tuple[Group, str] = ("replay", "play the recording")
FILTERS = (
    "risk>=high  session:api-fix",
    "tool:Bash  state:denied",
    '"rm -rf"  -agent:codex',
    "since:2h  by:operator",
)

Run = tuple[str, Token, bool]
HIDDEN = "<U+200B>"
MARKED = "marked"
Text = list[Run]


class HelpPage(Pane):
    """One page; it scrolls where the terminal is too small for it."""

    DEFAULT_CSS = "HelpPage { height: 1fr; }"

    def __init__(self, keymap: Keymap, *, replay: bool = False) -> None:
        """Lists the keys of a `replay` in the place of those that decide, if it is one."""
        super().__init__()
        self._sections = (REPLAY, *SECTIONS[1:]) if replay else SECTIONS
        self._keymap = keymap
        self._top = 0

    def move(self, lines: int) -> None:
        """Scrolls by so many lines, no further than the last one stays in view."""
        last = max(0, len(self._page(self.size.width)) - self.size.height)
        top = min(max(0, self._top + lines), last)
        if top != self._top:
            self._top = top
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        page = self._page(cells)
        top = min(self._top, max(0, len(page) - rows))
        return page[top : top + rows]

    def _page(self, cells: int) -> list[StyledLine]:
        blocks = [self._section(group, title) for group, title in self._sections]
        first = [*blocks[0], *blocks[1], *self._rule(), *self._costs()]
        second = [*blocks[2], *blocks[3], *blocks[4], *blocks[5]]
        marks = [*self._risks(), *self._states()]
        texts = [*self._texts(), *self._filters()]
        if cells >= COLUMNS[2] + 28:
            return self._side_by_side([first, second, [*marks, *texts]])
        if cells >= NARROW_COLUMNS[1] + 36:
            return self._side_by_side([[*first, *texts], [*second, *marks]], NARROW_COLUMNS)
        return self._side_by_side([[*first, *second, *marks, *texts]])

    def _side_by_side(
        self, columns: list[list[Text]], places: tuple[int, ...] = COLUMNS
    ) -> list[StyledLine]:
        lines = []
        for number in range(max(len(column) for column in columns)):
            line = self.line()
            for at, column in zip(places, columns, strict=False):
                if number < len(column):
                    chip = column[number] and column[number][0][0].startswith(" ")
                    line.to(at - 1 if chip else at)
                    for text, ink, bold in column[number]:
                        ground: Token | None = None
                        if ink in ("bg", "alarm_ink"):
                            ground = "critical" if ink == "bg" else "alarm"
                        marked, hidden = text == MARKED, text == HIDDEN
                        line.add(text, ink, on=ground, bold=bold, underline=marked, reverse=hidden)
            lines.append(line)
        return lines

    def _section(self, group: Group, title: str) -> list[Text]:
        texts: list[Text] = [[(title, "dim", False)], []]
        for row in rows(self._keymap, group):
            for first, names in _lines(row.names):
                shown = names.ljust(KEY_CELLS)
                texts.append([(shown, "accent", True), (row.help if first else "", "fg", False)])
            if row.note:
                texts.append([("", "fg", False), (" " * KEY_CELLS + row.note, "dim", False)])
        return [*texts, []]

    def _rule(self) -> list[Text]:
        if self._sections[0] is REPLAY:
            return [
                [("A replay: no key decides anything,", "fg", True)],
                [("nothing reaches a core or an agent.", "fg", True)],
                [],
            ]
        return [
            [("Silence means denied. Enter, Esc, n", "fg", True)],
            [("and y never decide anything.", "fg", True)],
            [],
        ]

    def _risks(self) -> list[Text]:
        return [
            [("risk", "dim", False)],
            [],
            [(".    LOW", "low", False)],
            [("!    MEDIUM", "medium", False)],
            [("!!   HIGH", "high", True), (", and unknown", "dim", False)],
            [(" !!! CRITICAL ", "bg", True)],
            [],
        ]

    def _states(self) -> list[Text]:
        return [
            [("state", "dim", False)],
            [],
            *(_pair(glyph, labels.legend) for glyph, labels in GLYPHS.items()),
            [(" # DENIED BUT RAN ", "alarm_ink", True)],
            [("(no mark: no opinion)", "dim", False)],
            [],
        ]

    def _texts(self) -> list[Text]:
        return [
            [("text", "dim", False)],
            [],
            [(MARKED, "critical", True), ("      why it is held", "fg", False)],
            [(HIDDEN, "fg", False), ("    a hidden character", "fg", False)],
            [
                (f"({self._keymap['allow'].shown} allow)".ljust(12), "off", False),
                ("not now; press it", "fg", False),
            ],
            [("?           ", "fg", False), ("unknown, never 0", "fg", False)],
            [],
        ]

    def _costs(self) -> list[Text]:
        texts: list[Text] = [[("costs", "dim", False)], []]
        for figure, words in LEGEND:
            texts.append([(figure.ljust(KEY_CELLS), "fg", False), (words, "fg", False)])
        return [*texts, []]

    def _filters(self) -> list[Text]:
        return [[("filters", "dim", False)], [], *(_plain(text) for text in FILTERS)]


def _lines(names: tuple[str, ...]) -> list[tuple[bool, str]]:
    """Returns the keys in as many lines as their column needs, and whether each is the first."""
    if len(names) > MANY and all(len(name) == 1 for name in names):
        return [(True, f"{names[0]} ... {names[-1]}")]
    lines = [""]
    for name in names:
        longer = f"{lines[-1]} {name}".strip()
        if len(longer) < KEY_CELLS:
            lines[-1] = longer
        else:
            lines.append(name)
    return [(number == 0, line) for number, line in enumerate(lines)]


def _pair(glyph: str, words: str) -> Text:
    return [(glyph.ljust(5), "fg", True), (words, "fg", False)]


def _plain(words: str) -> Text:
    return [(words, "fg", False)]
