"""The queue's lines and words, whatever agents put into them."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.approvals_picture import approvals, critical, edit, many, settled, sibling
from tests.ui.picture import NOW_US
from tests.ui.requests import pending
from tests.ui.widgets_app import Stage, texts
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.model.records import Word
from watchgate.core.model.views import Settled
from watchgate.core.state.state import State
from watchgate.ui.base.formats import width
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.countdown import LAST_S
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.diff.edit_section import names_itself, path_findings, undrawn_input
from watchgate.ui.widgets.queue.queue_list import (
    ENDING_CELLS,
    Queue,
    QueueView,
    ending_words,
    pending_lines,
    settled_lines,
)
from watchgate.ui.widgets.queue.queue_summary import QueueHead, QueueHeadView
from watchgate.ui.widgets.request.request_detail import same_batch
from watchgate.ui.widgets.request.request_lines import request_lines

CELLS_OF_PANE = 38
HOSTILE = "\x1b[31m\u202e\u200b\r\n界界界 [bold]x[/] 👩‍👩‍👧 " * 4


def ended(word: str, **facts: object) -> Settled:
    """A request of Claude's that ended with this word."""
    plain = msgspec.structs.replace(settled()[0], by="operator ana (console 2)", reason="")
    return msgspec.structs.replace(plain, word=word, **facts)


def short(command: str = "make", **input_: object) -> list[str]:
    """A shell request as the Approvals screen tells it."""
    view = pending(command)
    given = {"command": command, **input_}
    tool = msgspec.structs.replace(view.data.tool, input=given)
    view = msgspec.structs.replace(view, data=msgspec.structs.replace(view.data, tool=tool))
    lines = request_lines(view, None, Sheet(82, DARK, payload="v"))
    return [line.strip(82).text.rstrip() for line in lines]


def test_every_word_has_its_own_short_words() -> None:
    words = [ending_words(ended(word)) for word in get_args(Word)]
    assert max(map(width, words)) <= ENDING_CELLS
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(("word", "facts", "words"), [
    ("allowed-by-operator", {}, "allowed by ana, once"),
    ("allowed-by-operator", {"scope": "session"}, "allowed, this session"),
    ("allowed-by-operator", {"by": "operator " + "x" * 40, "scope": "turn"}, "allowed, this turn"),
    ("denied-by-operator", {}, "denied by ana"),
    ("denied-by-operator", {"reason": "use make clean"}, "denied, with reply"),
    ("denied-by-timeout", {}, "denied, no answer"),
    ("answered-elsewhere", {}, "answered in Claude"),
    ("answered-elsewhere", {"agent": "x" * 30}, "answered in its agent"),
    ("answered-elsewhere", {"agent": "acp"}, "answered in its agent"),
    ("withdrawn", {}, "withdrawn, agent gone"),
    ("of-a-later-version", {}, "of-a-later-version"),
])  # fmt: skip
def test_how_a_request_ended_in_plain_words(
    word: str, facts: dict[str, object], words: str
) -> None:
    assert ending_words(ended(word, **facts)) == words


def test_the_same_word_of_two_operators_names_each() -> None:
    assert ending_words(ended("denied-by-operator", by="operator kim (pid 7)")) == "denied by kim"
    assert ending_words(ended("denied-by-operator", by="")) == "denied by an operator"


@given(
    label=st.text(max_size=60) | st.just(HOSTILE),
    summary=st.text(max_size=90) | st.just(HOSTILE),
    left_s=st.none() | st.floats(0, 90_000),
    chosen=st.booleans(),
    marked=st.booleans(),
    stale=st.booleans(),
    cls=st.sampled_from(["shell", "edit"]),
)
def test_whatever_agents_call_themselves_columns_keep_their_place(
    *,
    label: str,
    summary: str,
    left_s: float | None,
    chosen: bool,
    marked: bool,
    stale: bool,
    cls: ToolClass,
) -> None:
    view = pending(summary, label=label, tool=Tool(label[:20], "x", cls, {}, "h"))
    view = msgspec.structs.replace(view, data=msgspec.structs.replace(view.data, summary=summary))
    lines = [StyledLine(DARK), StyledLine(DARK)]
    pending_lines(lines, view, CELLS_OF_PANE, left_s, chosen=chosen, marked=marked, stale=stale)
    done = ended("denied-by-operator", summary=summary, by=f"operator {label}")
    pair = [StyledLine(DARK), StyledLine(DARK)]
    settled_lines(pair, done, CELLS_OF_PANE, zone=None, stale=stale)
    for line in (*lines, *pair):
        assert line.left_cells + line.right_cells <= CELLS_OF_PANE
        text = line.strip(CELLS_OF_PANE).text
        assert width(text) == CELLS_OF_PANE
        assert not set(text) & set("\x1b\u202e\u200b\r\n")
    assert "#a41f" in lines[0].strip(CELLS_OF_PANE).text


async def shown(view: QueueView, rows: int = 36) -> list[str]:
    """The queue as a reader sees it."""
    queue = Queue()
    async with Stage(queue).run_test(size=(CELLS_OF_PANE, rows)) as pilot:
        queue.show(view)
        await pilot.pause()
        return texts(queue)


async def test_requests_stand_above_what_was_settled_with_the_newest_first() -> None:
    snapshot = approvals()
    view = QueueView(
        now_us=NOW_US,
        pending=snapshot.pending,
        settled=tuple(reversed(snapshot.settled)),
        chosen=snapshot.pending[0].id,
    )
    lines = await shown(view)
    assert lines[0] == "  queue                     denied in"
    assert lines[2] == "> !!! Bash  api-fix  #a41f       0:23"
    assert lines[3] == "      rm -rf build/ && curl -fsSL..."
    assert lines[5] == "  !!  Edit  docs  #b7c2          4:14"
    assert lines[6] == "      .github/workflows/release.yml"
    assert lines[9] == "  settled"
    assert lines[11:13] == ["  T   docker compose down -v", "      12:03:25  denied, no answer"]
    assert lines[14:16] == [
        "  +   git push origin docs/install",
        "      12:03:11  allowed by you, once",
    ]
    assert lines[24] == "      12:01:22  withdrawn, agent gone"


@pytest.mark.parametrize("rows", [12, 16, 24, 36])
@pytest.mark.parametrize("place", [0, 7, 15])
async def test_the_chosen_request_is_visible_and_the_others_are_counted(
    rows: int, place: int
) -> None:
    snapshot = many()
    chosen = snapshot.pending[place].id
    lines = await shown(QueueView(now_us=NOW_US, pending=snapshot.pending, chosen=chosen), rows)
    (line,) = [line for line in lines if line.startswith(">")]
    assert f"#{chosen[:4]}" in line
    visible = sum("#" in line for line in lines)
    told = [word for word in " ".join(lines).replace(",", "").split() if word[:1] == "+"]
    assert visible + sum(int(word) for word in told) == len(snapshot.pending)


async def test_what_is_handed_back_is_not_said_to_be_denied() -> None:
    data = msgspec.structs.replace(critical().data, silence="handback")
    view = msgspec.structs.replace(critical(), data=data)
    lines = await shown(QueueView(now_us=NOW_US, pending=(view, edit())))
    assert lines[0].endswith("silence ends in")


async def test_the_last_seconds_are_reversed_in_the_queue() -> None:
    lines = [StyledLine(DARK), StyledLine(DARK)]
    pending_lines(lines, pending(), 38, float(LAST_S), chosen=False, marked=False, stale=False)
    (ends,) = [part for part in lines[0].strip(38) if part.text == "0:10"]
    assert ends.style is not None
    assert ends.style.bgcolor is not None
    assert ends.style.bgcolor.name == DARK.colors["fg"]


@pytest.mark.parametrize(("view", "line"), [
    (QueueHeadView(request="a41f", place=1, count=3, next=edit(), left_s=254),
     "  1 of 3  #a41f   next #b7c2 Edit docs 4:14"),
    (QueueHeadView(request="a41f", place=1, count=1), "  1 of 1  #a41f   no other waits"),
    (QueueHeadView(), ""),
])  # fmt: skip
async def test_one_line_stands_for_the_queue(view: QueueHeadView, line: str) -> None:
    head = QueueHead()
    async with Stage(head).run_test(size=(60, 4)) as pilot:
        head.show(view)
        await pilot.pause()
        assert texts(head) == [line]


def test_a_batch_is_what_the_same_session_called_at_the_same_moment() -> None:
    state = State(max_rows=100)
    view = critical()
    own = msgspec.structs.replace(sibling(), call=view.call, at=NOW_US)
    with_it = msgspec.structs.replace(own, call="b", at=NOW_US - 900_000)
    for row in (
        msgspec.structs.replace(own, call="a", at=NOW_US - 1_100_000),
        with_it,
        own,
        msgspec.structs.replace(own, call="c", session="other"),
        msgspec.structs.replace(own, call="d", sub="explorer"),
    ):
        state.calls.add(row)
    assert same_batch(state, view) == (with_it,)
    assert same_batch(State(max_rows=1), view) == ()


def test_what_the_payload_holds_besides_the_command_is_told_or_shown_whole() -> None:
    assert not [line for line in short() if line.startswith("  input")]
    assert any(line.startswith("  raw") for line in short())
    (told,) = [line for line in short(run_in_background=True) if line.startswith("  input")]
    assert told == "  input        run_in_background=true"
    whole = short(environment="x" * 300)
    assert not any(line.startswith("  raw") for line in whole)
    assert "x" * 60 in "".join(line.strip() for line in whole)


def test_an_edit_that_its_changes_tell_whole_needs_no_payload() -> None:
    plain = edit().data
    assert undrawn_input(plain).text == ""
    assert names_itself(plain, 82)
    assert not names_itself(plain, 40)
    given = {**plain.tool.input, "replace_all": True}
    more = msgspec.structs.replace(plain, tool=msgspec.structs.replace(plain.tool, input=given))
    assert undrawn_input(more).text == "replace_all=true"
    nested = {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}]}
    several = msgspec.structs.replace(plain.tool, input=nested)
    assert undrawn_input(msgspec.structs.replace(plain, tool=several)).text == ""
    odd = {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b", "mode": "all"}]}
    other = msgspec.structs.replace(plain.tool, input=odd)
    assert "edits" in undrawn_input(msgspec.structs.replace(plain, tool=other)).text


def test_a_finding_about_the_path_of_an_edit_colours_the_heading_of_its_changes() -> None:
    path = str(edit().data.tool.input["file_path"])
    told = Finding("files.later", "Runs later", "high", (0, len(path)))
    marked = msgspec.structs.replace(edit().data, summary=f"{path}  +1 -1", findings=(told,))
    assert names_itself(marked, 82)
    assert path_findings(marked) == [told]
    elsewhere = msgspec.structs.replace(told, span=(len(path), len(path) + 3))
    assert not names_itself(msgspec.structs.replace(marked, findings=(told, elsewhere)), 82)


def test_a_description_is_told_as_the_agents_words_and_covers_nothing() -> None:
    text = short(description="list \u202efiles")
    (line,) = [line for line in text if line.startswith("  agent wrote")]
    assert line == '  agent wrote  "list <U+202E>files"'
