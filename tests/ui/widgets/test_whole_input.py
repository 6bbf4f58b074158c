"""Nothing of what would run is missing where it can be allowed, whatever a tool was given."""

from __future__ import annotations

import re
from itertools import count
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.requests import NOW, pending
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.model.views import PendingView
from watchgate.core.tools.summary import summary
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.dock_lines import DockView, draw_dock
from watchgate.ui.widgets.request.request_lines import request_lines

CWD = "/home/alice/src/api"
WIDTHS = (60, 82, 121, 160)
DOCKS = ((60, 5), (80, 6), (120, 8))
LEAF = "LEAF"
PATCH = (
    "*** Begin Patch\n*** Move to: LEAF\n*** Update File: LEAF\n@@ LEAF\n-LEAF\n+LEAF\u2028-LEAF\n"
    " LEAF\x0bLEAF\rLEAF\n*** End Patch\nLEAF"
)
LEAVES = st.sampled_from((LEAF, " ".join([LEAF] * 60), "LEAF\nLEAF\n", "/LEAF/\u200bLEAF", PATCH))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("LEAF", "content", "old_string", "path")), inner),
    ),
    max_leaves=5,
)
NAMES = st.sampled_from(
    (
        "command", "commands", "description", "timeout", "workdir", "env", "file_path", "path",
        "pattern", "url", "query", "prompt", "plan", "allowedPrompts", "old_string", "new_string",
        "content", "edits", "patch", "input", "cell_id", LEAF,
    )
)  # fmt: skip
KINDS = st.sampled_from([cls for cls in get_args(ToolClass) if cls != "question"])


def numbered(value: Any, numbers: count[int]) -> Any:
    """The value with every leaf a word of its own."""
    if isinstance(value, dict):
        return {numbered(key, numbers): numbered(each, numbers) for key, each in value.items()}
    if isinstance(value, list):
        return [numbered(each, numbers) for each in value]
    return re.sub(LEAF, lambda _: f"q{next(numbers)}z", value)


def asked(cls: ToolClass, given_: dict[str, Any]) -> PendingView:
    """A request of this kind of tool with this input, in the words that the core finds for it."""
    tool = Tool("Tool", "Tool", cls, given_, "hash")
    asks = "plan" if cls == "plan" else "approval"
    facts = {"tool": tool, "summary": summary(tool, CWD), "asks": asks, "cwd": CWD}
    return pending("", risk="low", rule="", reason="", findings=(), **facts)


def words(text: str) -> set[str]:
    """The leaves in a text, also those that a row's end breaks."""
    return set(re.findall(r"q\d+z", "".join(text.split())))


def page(view: PendingView, cells: int, payload: str) -> str:
    """A page of the request as it is read; with `payload` its raw input is shown elsewhere."""
    sheet = Sheet(cells, DARK, "/home/alice", bare=True, payload=payload)
    return "\n".join(line.strip(cells).text for line in request_lines(view, None, sheet))


@settings(max_examples=80, deadline=None)
@given(KINDS, st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_every_word_of_the_input_stands_where_it_can_be_allowed(
    cls: ToolClass, given_: dict[str, Any]
) -> None:
    plain = numbered(given_, count())
    view = asked(cls, plain)
    decides = plain
    if cls == "shell":  # these change nothing of what a command does
        decides = {
            key: each for key, each in plain.items() if key not in ("description", "timeout")
        }
    sent, decides = (words(str(each)) for each in (plain, decides))
    for cells in WIDTHS:
        assert sent <= words(page(view, cells, ""))
        assert decides <= words(page(view, cells, "v"))
    for cells, rows in DOCKS:
        drawn = draw_dock(DockView(now_us=NOW, pending=view, bare=True), cells, rows, DARK)
        if drawn.complete:
            assert decides <= words("\n".join(line.strip(cells).text for line in drawn.lines))


@pytest.mark.parametrize(
    ("cls", "given_", "told"),
    [
        ("shell", {"command": "make -C /srv install", "workdir": "/srv"}, 'workdir="/srv"'),
        ("shell", {"command": {"command": "ls", "env": {"PATH": "/x"}}}, '"PATH":"/x"'),
        ("mcp", {"title": "Release", "description": "Delete it all"}, "Delete it all"),
        ("mcp", {"timeout": 86400}, "timeout=86400"),
        ("other", {"filter": ""}, 'filter=""'),
        ("fetch", {"url": "http://a/?q=cats", "query": "cats"}, 'query="cats"'),
        ("edit", {"file_path": "a", "old_string": "b", "new_string": "all", "mode": "all"},
         'mode="all"'),
        ("edit", {"file_path": "/etc/passwd", "patch": "*** Begin Patch\n-x\n+y\n*** End Patch"},
         "/etc/passwd"),
        ("edit", {"file_path": "/etc/passwd", "patch": "*** Begin Patch\n*** End Patch"},
         "/etc/passwd"),
    ],
)  # fmt: skip
def test_a_field_is_told_although_its_words_stand_elsewhere_too(
    cls: ToolClass, given_: dict[str, Any], told: str
) -> None:
    view = asked(cls, given_)
    assert told in page(view, 120, "v")
    drawn = draw_dock(DockView(now_us=NOW, pending=view), 120, 8, DARK)
    assert told in "\n".join(line.strip(120).text for line in drawn.lines) or not drawn.complete


def test_a_path_that_hides_characters_does_not_stand_for_itself_in_a_heading() -> None:
    path = f"/etc/{chr(0x200B) * 30}x"
    text = page(asked("edit", {"file_path": path, "content": "a"}), 82, "v")
    assert "".join(text.split()).count("<U+200B>") >= 30


def test_what_an_approved_plan_would_let_run_is_shown_before_it() -> None:
    allowed = [{"tool": "Bash", "prompt": f"run step {number} of it"} for number in range(12)]
    view = asked("plan", {"plan": "Do it.", "allowedPrompts": allowed})
    for payload in ("", "v"):
        text = page(view, 100, payload)
        assert all(each["prompt"] in text for each in allowed)
    few = asked("plan", {"plan": "Do it.", "allowedPrompts": allowed[:1]})
    assert "run step 0" in page(few, 100, "v")
    for cells, rows in DOCKS:
        assert not draw_dock(DockView(now_us=NOW, pending=few), cells, rows, DARK).complete
    alone = msgspec.structs.replace(few.data.tool, input={"plan": "Do it."})
    data = msgspec.structs.replace(few.data, tool=alone)
    plain = msgspec.structs.replace(few, data=data)
    assert draw_dock(DockView(now_us=NOW, pending=plain), 120, 8, DARK).complete
