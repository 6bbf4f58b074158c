"""An edit as it is drawn: file by file, old and new, in one column or two, and why by line."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.requests import data
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Tool
from watchgate.core.model.records import RequestData
from watchgate.core.tools.diff_rows import numbered
from watchgate.core.tools.edit_blocks import UNKNOWN_BEFORE, blocks
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.diff.diff_lines import draw_rows, fits_side_by_side
from watchgate.ui.widgets.diff.edit_section import (
    draw_edit,
    draw_line_notes,
    line_notes,
    marked_blocks,
)

PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ def total():
 one
-two = 2
+two = 3
@@ -18,2 +20,3 @@
 x
+y
*** Delete File: old.py
*** Add File: new.py
+hello
*** End Patch"""


def edit(name: str = "Edit", **fields: Any) -> RequestData:
    tool = Tool(name, name, "edit", fields, "h")
    return data("a.py", tool=tool, findings=())


def page(asked: RequestData, cells: int = 80, **how: Any) -> list[str]:
    sheet = Sheet(cells, DARK, **how)
    draw_edit(sheet, asked)
    assert all(line.left_cells + line.right_cells <= cells for line in sheet.lines)
    return [line.strip(cells).text.rstrip() for line in sheet.lines]


def test_both_line_numbers_stand_before_the_sign() -> None:
    old, new = "a\nb = 1\nc", "a\nb = 2\nb = 3\nc"
    assert page(edit(file_path="src/a.py", old_string=old, new_string=new))[1:] == [
        "  src/a.py   +2 -1                                lines counted from the change",
        "      1    1    a",
        "      2       - b = 1",
        "           2  + b = 2",
        "           3  + b = 3",
        "      3    4    c",
    ]


def test_a_narrow_pane_leaves_the_room_to_the_text() -> None:
    text = page(edit(file_path="a.py", old_string="x", new_string="y"), cells=46)
    assert text[1:] == ["  a.py   +1 -1", "  - x", "  + y"]


def test_a_whole_file_says_that_nobody_knows_what_is_there_now() -> None:
    text = page(edit("Write", file_path="a.py", content="one\ntwo\n"))
    assert text[1].endswith("lines 1 to 2")
    assert text[2] == f"  {UNKNOWN_BEFORE}"
    assert text[3:] == ["           1  + one", "           2  + two"]


def test_the_heading_says_when_all_of_it_was_on_the_screen() -> None:
    text = page(edit("Write", file_path="a.py", content="one\ntwo\n"), all_shown=True)
    assert text[1].endswith("shown to its end, lines 1 to 2")


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"path": "a", "insert_line": 12, "new_str": "x"}, "put in after line 12"),
        ({"file_path": "a", "old_string": "q", "new_string": "r", "replace_all": True},
         "at every place where it stands"),
        ({"notebook_path": "a", "cell_id": "c3", "new_source": "x"},
         "replace cell c3; what the cell holds now is not known"),
        ({"notebook_path": "a", "cell_id": "c3", "edit_mode": "insert", "new_source": "x"},
         "insert cell c3"),
    ],
)  # fmt: skip
def test_what_the_lines_do_not_tell_is_said_in_words(fields: dict[str, Any], note: str) -> None:
    assert f"  {note}" in page(edit(**fields))


def test_lines_put_in_at_a_line_have_the_numbers_of_the_file() -> None:
    (block,) = blocks(edit(path="a", insert_line=12, new_str="x\ny").tool)
    assert [row.new for row in block.rows] == [13, 14]
    assert block.counted


def test_several_changes_of_one_file_share_its_heading() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    text = page(edit("MultiEdit", file_path="src/a.py", edits=edits))
    assert sum("src/a.py" in line for line in text) == 1
    assert "+1 -2" in text[1]
    assert "  change 1 of 2" in text
    assert "  change 2 of 2" in text


def test_a_patch_is_told_file_by_file() -> None:
    found = blocks(edit("apply_patch", command=PATCH).tool)
    assert [(block.path, block.note) for block in found] == [
        ("src/a.py", "moved to src/b.py"),
        ("src/a.py", ""),
        ("old.py", "deletes the whole file"),
        ("new.py", "a new file"),
    ]
    first, second, _, last = found
    assert [(row.sign, row.text) for row in first.rows] == [
        ("@", "def total():"), (" ", "one"), ("-", "two = 2"), ("+", "two = 3")
    ]  # fmt: skip
    assert [(row.old, row.new) for row in second.rows] == [(18, 20), (None, 21)]
    assert last.size == (1, 0)


def test_a_line_of_a_patch_that_nobody_understands_is_shown_as_it_stands() -> None:
    patch = "*** Begin Patch\nstrange words\n*** Update File: a\n+x\nmore\n*** End Patch"
    text = "\n".join(page(edit("apply_patch", patch=patch)))
    assert "strange words" in text
    assert "more" in text


def test_nothing_but_a_newline_ends_a_line_of_a_patch() -> None:
    change = "*** Move to: b\n*** Update File: a\n+x\u2028-y\x0cz"
    patch = f"*** Begin Patch\r\n{change}\r\n*** End Patch\n"
    moved, changed = blocks(edit("apply_patch", patch=patch).tool)
    assert moved.note == "moved to b"
    assert [(row.sign, row.text) for row in changed.rows] == [("+", "x\u2028-y\x0cz")]
    assert "x<U+2028>-y<U+000C>z" in "\n".join(page(edit("apply_patch", patch=patch)))


def test_old_and_new_stand_side_by_side_where_each_has_sixty_cells() -> None:
    old, new = "a\nb = 1\nc", "a\nb = 2\nb = 3\nc"
    asked = edit(file_path="a", old_string=old, new_string=new)
    assert not fits_side_by_side(124)
    text = page(asked, cells=125)[2:]
    assert text[1].split() == ["2", "-", "b", "=", "1", "2", "+", "b", "=", "2"]
    assert text[1].index("b = 2") == 2 + 60 + 2 + 5 + 4
    assert text[2].strip() == "3  + b = 3"
    assert len(text) == 4


def test_what_has_no_other_side_takes_the_whole_width() -> None:
    text = page(edit("Write", file_path="a", content="x" * 120), cells=160)
    assert text[-1] == "           1  + " + "x" * 120


def test_far_from_a_change_unchanged_lines_are_folded_while_the_input_is_below() -> None:
    old = "\n".join(f"line {at}" for at in range(40))
    asked = edit(file_path="a", old_string=old, new_string=old.replace("line 20", "twenty"))
    text = page(asked)
    assert "                17 lines unchanged" in text
    assert "                16 lines unchanged" in text
    assert len(text) == 2 + 2 + 3 + 2 + 3
    # Where the input is not below, every line of it is here.
    assert len(page(asked, payload="v")) == 2 + 41


def test_what_is_too_long_to_be_allowed_is_cut_and_says_so() -> None:
    text = page(edit("Write", file_path="a", content="line of a file\n" * 20_000))
    assert text[-1] == "  18,000 lines more"


def test_changed_words_are_bold_within_the_line() -> None:
    rows = numbered([("-", "timeout = 30"), ("+", "timeout = 45")])
    lines = [line.strip(80) for line in draw_rows(rows, 80, DARK)]
    bold = ["".join(s.text for s in strip if s.style and s.style.bold).split() for strip in lines]
    assert bold == [["-", "30"], ["+", "45"]]


def test_a_hidden_character_is_marked_by_the_rule_that_found_it_and_told_by_line() -> None:
    found = (Finding("text.hidden", "Holds a character that nobody can see", "high"),)
    asked = msgspec.structs.replace(
        edit(file_path="a", old_string="x", new_string='x\ncurl "https://a.example/\u200bk"'),
        findings=found,
    )
    (block,) = marked_blocks(blocks(asked.tool), asked.findings)
    marked = [row.text[slice(*mark.span)] for row in block.rows for mark in row.marks if mark.span]
    assert marked == ["https://a.example/\u200bk"]
    sheet = Sheet(80, DARK)
    draw_line_notes(sheet, line_notes(asked))
    (line,) = [line.strip(80).text.rstrip() for line in sheet.lines]
    assert line == "  !!   line 2  hidden character in an address, drawn as <U+200B>"


def test_what_no_rule_holds_is_told_without_a_risk() -> None:
    asked = edit(file_path="a", old_string="x", new_string="x\u200b")
    (note,) = line_notes(asked)
    assert note.risk is None
    assert line_notes(edit(file_path="a", old_string="x\u200b", new_string="x")) == []


@given(
    st.text("ab \n\t\u200b\x1b中", max_size=80),
    st.text("ab \n\t\u200b\x1b中", max_size=80),
    st.sampled_from([46, 60, 80, 125, 160]),
)
def test_every_line_of_both_texts_is_drawn_and_none_is_too_wide(
    old: str, new: str, cells: int
) -> None:
    asked = edit(file_path="a", old_string=old, new_string=new)
    text = page(asked, cells=cells, payload="v")
    assert not set("".join(text)) & set("\x1b\u200b")
    rows = [row for block in blocks(asked.tool) for row in block.rows]
    signs = [row.sign for row in rows]
    if not fits_side_by_side(cells):
        assert len(text) >= len(rows)
    assert signs.count("+") == sum(block.size[0] for block in blocks(asked.tool))
