"""JSON as a tree that folds: what is told, what is folded, and where the cursor goes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.widgets_app import Stage, texts
from watchgate.core.base.text import safe_text
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.payload.json_tree import draw_tree, long_paths, node_lines, tree
from watchgate.ui.widgets.payload.json_view import JsonView, PageSection

TOKEN = "ghp_" + "a" * 36
VALUE = {
    "query": "is:open\nlabel:bug",
    "limit": 50,
    "flags": [],
    "items": [{"id": number, "tags": ["a", "b"]} for number in range(30)],
    "auth": {"token": TOKEN},
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=25,
)


def shown(value: Any, cells: int = 80, **how: Any) -> list[str]:
    sheet = Sheet(cells, DARK, **how)
    draw_tree(sheet, value)
    return [line.strip(cells).text.rstrip() for line in sheet.lines]


def test_a_value_is_an_indented_tree_with_what_holds_others_counted() -> None:
    assert shown({"a": {"b": [1, "x"], "c": {}}, "d": None}) == [
        '  "a": 2 keys',
        '    "b": 2 items',
        "      - 1",
        '      - "x"',
        '    "c": {}',
        '  "d": null',
    ]


def test_a_text_is_told_in_one_go_with_its_escapes_visible() -> None:
    assert shown({"q": "one\ntwo\tthree\u200b\x1b"}) == [
        '  "q": "one\\ntwo\\tthree<U+200B><U+001B>"'
    ]


def test_secrets_are_covered_unless_they_were_asked_for() -> None:
    value = {"t": TOKEN, "argv": ["--token", "sekret12345"]}
    text = "\n".join(shown(value))
    assert TOKEN not in text
    assert "sekret12345" not in text
    assert TOKEN in "\n".join(shown(value, bare=True))


def test_what_is_folded_says_how_much_it_holds() -> None:
    value = {"items": [0] * 340, "deep": {str(at): at for at in range(12)}, "text": "x" * 1240}
    folded = {("items",), ("deep",), ("text",)}
    found = list(tree(value, folded))
    assert len(found) == 3
    text = [line.strip(80).text.rstrip() for node in found for line in node_lines(node, 80, DARK)]
    assert text[0] == '  "items": [... 340 items]'
    assert text[1] == '  "deep": {... 12 keys}'
    assert text[2].startswith('  "text": "xxxxxxx')
    assert text[-1].endswith('x..."  1,240 characters')


def test_long_lists_and_long_texts_are_better_folded_at_first() -> None:
    assert long_paths(VALUE) == {("items",)}
    assert long_paths({"a": "x" * 2000, "b": "x" * 500}) == {("a",)}


@given(JSON, st.sampled_from([24, 46, 80]))
def test_every_leaf_can_be_read_when_nothing_is_folded_and_no_line_is_too_wide(
    value: Any, cells: int
) -> None:
    sheet = Sheet(cells, DARK, bare=True)
    draw_tree(sheet, value)
    assert all(line.left_cells <= cells for line in sheet.lines)
    text = "".join("".join(line.strip(cells).text.split()) for line in sheet.lines)
    for node in tree(value, bare=True):
        if not node.holds and "         " not in node.value:
            assert "".join(safe_text(node.value).split()) in text


@given(JSON, st.randoms())
def test_folding_anything_never_loses_what_is_around_it(value: Any, chance: Any) -> None:
    nodes = list(tree(value, bare=True))
    folded = {node.place for node in nodes if node.foldable and chance.random() < 0.5}
    left = [node.place for node in tree(value, folded, bare=True)]
    gone = [
        place
        for place in (node.place for node in nodes)
        if any(place[: len(top)] == top and place != top for top in folded)
    ]
    assert sorted(map(str, [*left, *gone])) == sorted(str(node.place) for node in nodes)


def test_a_value_within_a_thousand_others_is_told_with_its_depth() -> None:
    value: Any = "core"
    for _ in range(5_000):
        value = [value]
    text = shown(value, cells=46)
    assert '(4999 deep) - "core"' in " ".join(text[-1].split())


@pytest.mark.anyio
async def test_enter_folds_and_unfolds_what_the_cursor_is_on() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        folded = frozenset(("input", *place) for place in long_paths(VALUE))
        view.show((PageSection("input", value=VALUE),), key=1, folded=folded)
        await pilot.pause()
        assert '  "items": [... 30 items]' in texts(view)
        for _ in range(3):
            view.move(+1)
        await pilot.pause()
        assert '> "items": [... 30 items]' in texts(view)
        view.toggle()
        await pilot.pause()
        assert '> "items": 30 items' in texts(view)
        assert any('"tags": 2 items' in line for line in texts(view))
        view.toggle()
        await pilot.pause()
        assert '> "items": [... 30 items]' in texts(view)


@pytest.mark.anyio
async def test_every_line_is_reached_with_the_cursor_alone() -> None:
    view = JsonView()
    value = {"a": "first", "long": "word " * 700 + "end-of-long", "z": [f"item {n}" for n in "xyz"]}
    async with Stage(view).run_test(size=(60, 16)) as pilot:
        view.show((PageSection("input", facts=(("digest", "sha256 ab"),), value=value),), key=1)
        await pilot.pause()
        seen = set(texts(view))
        for _ in range(120):
            view.move(+1)
            seen |= set(texts(view)[:-1]) if "down" in texts(view)[-1] else set(texts(view))
        assert any("end-of-long" in line for line in seen)
        assert any('"item z"' in line for line in seen)
        down = texts(view)
        for _ in range(160):
            view.move(-1)
        assert texts(view) != down
        assert any("digest" in line for line in texts(view))


@pytest.mark.anyio
async def test_another_page_begins_at_its_top_and_the_same_one_stays_where_it_was() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 16)) as pilot:
        view.show((PageSection("input", value=VALUE),), key=1)
        view.move(+2)
        view.show((PageSection("input", value=VALUE),), key=1)
        await pilot.pause()
        assert view.selected is not None
        assert view.selected.place == ("input", "flags")
        view.show((PageSection("input", value=VALUE),), key=2)
        assert view.selected is not None
        assert view.selected.place == ("input", "query")


@pytest.mark.anyio
async def test_nothing_to_stand_on_is_no_fault() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 16)) as pilot:
        view.move(+1)
        view.page(+1)
        view.toggle()
        view.show((PageSection("", facts=(("", "nothing is pending"),)),), key=None)
        view.move(-1)
        await pilot.pause()
        assert view.selected is None
        assert "nothing is pending" in texts(view)[0]
