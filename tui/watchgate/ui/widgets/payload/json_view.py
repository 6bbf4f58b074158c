"""Lines and JSON trees in one scrolled page, with a cursor on the rows that fold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp

from watchgate.core.base.amounts import plural
from watchgate.core.secrets.redact import redact_all
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_text import Piece, wrap
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.base.text_masking import COVERED, Masking
from watchgate.ui.widgets.payload.json_tree import JsonNode, JsonPath, node_lines, tree

WHEEL = 3
AIRY_FROM = 30

Fact = tuple[str, str]
"""A label and its value, which is from outside and drawn safe."""


class PageSection(msgspec.Struct, frozen=True):
    """A part of the page: a unique title (empty: none), facts below it, and a value."""

    title: str
    aside: str = ""
    head: tuple[Piece, ...] = ()
    facts: tuple[Fact, ...] = ()
    value: Any = None


class JsonView(Pane, can_focus=False):
    """Sections one below the other; `Enter` folds and unfolds what the cursor is on."""

    DEFAULT_CSS = "JsonView { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._sections: tuple[PageSection, ...] = ()
        self._masking = COVERED
        self._folded: frozenset[JsonPath] = frozenset()
        self._tree: list[JsonNode] = []
        self._cursor: JsonPath | None = None
        self._offset = 0
        self._key: object = None
        self._laid: object = None
        self._body: list[StyledLine] = []
        self._spans: list[tuple[int, int]] = []

    @property
    def items(self) -> int:
        """The number of rows that the cursor can be on."""
        return len(self._tree)

    @property
    def rows_there(self) -> Sequence[JsonNode]:
        """The present rows; a section's name stands first in each one's path."""
        return self._tree

    @property
    def selected(self) -> JsonNode | None:
        """The row under the cursor."""
        at = self._at
        return self._tree[at] if at is not None else None

    @property
    def copied(self) -> str | None:
        """The value under the cursor as JSON, None where there is none."""
        node = self.selected
        if node is None:
            return None
        value: Any = next(each.value for each in self._sections if each.title == node.place[0])
        for step in node.place[1:]:
            value = value[step]
        if not self._masking.bare:
            value = redact_all(value)
        return value if isinstance(value, str) else json.dumps(value, default=str)

    def show(
        self,
        sections: Sequence[PageSection],
        *,
        key: object,
        folded: frozenset[JsonPath] = frozenset(),
        masking: Masking = COVERED,
    ) -> None:
        """Shows these sections; another `key` is another page, with this `folded` at first."""
        if key != self._key:
            self._key, self._folded, self._cursor, self._offset = key, folded, None, 0
        elif (tuple(sections), masking) == (self._sections, self._masking):
            return
        self._sections, self._masking = tuple(sections), masking
        self._grow()
        self.redraw()

    def toggle(self) -> None:
        """Folds the row under the cursor, or unfolds it."""
        node = self.selected
        if node is not None and node.foldable:
            self._folded ^= {node.place}
            self._grow()
            self._lay_out()
            self._follow()
            self.redraw()

    def move(self, lines: int) -> None:
        """Moves the cursor; what is taller than the page is scrolled through first."""
        self._lay_out()
        at = self._at
        if at is None or abs(lines) > 1:
            self.scroll_by(lines) if at is None else self._go(at + lines)
            return
        top, end = self._spans[at]
        rows = self.size.height
        if lines > 0 and end > self._offset + self._room:
            self.scroll_by(1)
        elif lines < 0 and (top < self._offset or (at == 0 and self._offset > 0)):
            self.scroll_by(-1)
        elif lines > 0 and at == len(self._tree) - 1 and self._offset + rows < len(self._body):
            self.scroll_by(1)
        else:
            self._go(at + lines)

    def page(self, pages: int) -> None:
        """Scrolls by what is visible; the cursor comes along."""
        self.scroll_by(pages * max(1, self.size.height - 1))
        rows = range(self._offset, self._offset + max(1, self.size.height))
        inside = [at for at, (top, _) in enumerate(self._spans) if top in rows]
        if inside and self._at not in inside:
            self._cursor = self._tree[inside[0 if pages > 0 else -1]].place
            self.redraw()

    def scroll_by(self, lines: int) -> None:
        """Scrolls; stops at both ends."""
        self._lay_out()
        last = max(0, len(self._body) - self.size.height)
        offset = min(max(0, self._offset + lines), last)
        if offset != self._offset:
            self._offset = offset
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        lines = self._lines(cells)
        self._offset = min(self._offset, max(0, len(lines) - rows))
        shown = lines[self._offset : self._offset + rows]
        left = len(lines) - self._offset - rows
        if left > 0 and shown:
            more = self.line().to(2).add(f"+{plural(left + 1, 'line')}", "dim")
            shown[-1] = more.add(f"   {key_for('down')}", "accent", bold=True).add(" down", "dim")
        return shown

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_by(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_by(WHEEL)

    def on_click(self, event: Click) -> None:
        event.stop()
        line = self._offset + event.y
        hit = [at for at, (top, end) in enumerate(self._spans) if top <= line < end]
        if hit:
            again = self._at == hit[0]
            self._cursor = self._tree[hit[0]].place
            self.redraw()
            if again:
                self.toggle()

    @property
    def _room(self) -> int:
        """The rows that text takes: the last one may have the number of lines below."""
        below = len(self._body) > self._offset + self.size.height
        return self.size.height - below

    @property
    def _at(self) -> int | None:
        places = [node.place for node in self._tree]
        if not places:
            return None
        return places.index(self._cursor) if self._cursor in places else 0

    def _go(self, at: int) -> None:
        self._cursor = self._tree[min(max(at, 0), len(self._tree) - 1)].place
        self._follow()
        self.redraw()

    def _follow(self) -> None:
        """Scrolls so that the cursor's row is visible, its beginning in any case."""
        at = self._at
        if at is None:
            return
        top, end = self._spans[at]
        if end > self._offset + self._room:
            self._offset = end - self.size.height + 1
        if at == 0:
            self._offset = max(0, min(self._offset, end - self.size.height))
        elif top < self._offset or end - top >= self.size.height:
            self._offset = top

    def _grow(self) -> None:
        self._tree = [
            msgspec.structs.replace(node, place=(section.title, *node.place))
            for section in self._sections
            for node in tree(section.value, self._inner(section), bare=self._masking.bare)
            if section.value is not None
        ]

    def _inner(self, section: PageSection) -> frozenset[JsonPath]:
        return frozenset(place[1:] for place in self._folded if place[:1] == (section.title,))

    def _lay_out(self) -> None:
        self._lines(self.size.width)

    def _lines(self, cells: int) -> list[StyledLine]:
        """Returns all lines of the page; lays the rows out anew where they changed."""
        air = int(self.size.height >= AIRY_FROM)
        key = (self._sections, self._folded, self._masking, cells, air, self.inks.name)
        if key != self._laid:
            self._laid, self._body, self._spans = key, [], []
            nodes = iter(self._tree)
            node = next(nodes, None)
            for section in self._sections:
                self._body += self._above(section, cells, air)
                while node is not None and node.place[0] == section.title:
                    begin = len(self._body)
                    self._body += self._drawn_node(node, cells)
                    self._spans.append((begin, len(self._body)))
                    node = next(nodes, None)
        at = self._at
        if at is None:
            return self._body
        top, end = self._spans[at]
        own = self._drawn_node(self._tree[at], cells, chosen=True)
        return [*self._body[:top], *own, *self._body[end:]]

    def _above(self, section: PageSection, cells: int, air: int) -> list[StyledLine]:
        sheet = Sheet(cells, self.inks, air=air, bare=self._masking.bare)
        if section.head:
            sheet.rows(wrap(section.head, sheet.room))
            if air:
                sheet.gap()
        if section.title:
            sheet.section(section.title, section.aside)
        for label, value in section.facts:
            sheet.fact(label, value)
        return sheet.lines

    def _drawn_node(self, node: JsonNode, cells: int, *, chosen: bool = False) -> list[StyledLine]:
        own = msgspec.structs.replace(node, place=node.place[1:])
        ground: Token = "sel" if chosen else self.ground
        return list(node_lines(own, cells, self.inks, self._masking, ground, pointed=chosen))
