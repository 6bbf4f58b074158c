"""Details as pictures: an edit with old and new side by side, a payload, a session, a call."""

from __future__ import annotations

import msgspec

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.snapshots.test_policy_pictures import whole_second, workflow
from tests.ui.picture import NOW_US, busy, call_rows, critical_request, high_request, sessions
from tests.ui.trace_picture import ran, skipped
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Sub, Tool
from watchgate.core.model.records import TraceData
from watchgate.core.model.session_view import SubView
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.traces import TraceView
from watchgate.link.protocol import Snapshot
from watchgate.ui.screens.payload_screen import PayloadScreen, SessionScreen

ISSUE = {
    "owner": "acme",
    "repo": "api",
    "title": "Limits are off by one",
    "body": "Seen in 2.4.1\n\n\tretry_after counts from 0\u200b",
    "labels": ["bug", "api"],
    "assignee": None,
    "draft": False,
    "fields": {"severity": 2, "token": "ghp_" + "a1B2" * 9, "links": []},
    "watchers": [{"id": at, "name": f"person {at}"} for at in range(24)],
}


def mcp() -> Snapshot:
    """The busy picture, its second request a call of a server that nobody knows."""
    view = high_request()
    tool = Tool(
        name="mcp__github__create_issue",
        native_name="mcp__github__create_issue",
        cls="mcp",
        input=ISSUE,
        input_hash="h",
    )
    found = (Finding("policy.no-rule", "No rule knows this MCP tool", "medium"),)
    data = msgspec.structs.replace(
        view.data, tool=tool, summary=tool.name, risk="medium", findings=found,
        env={"TMUX_PANE": "%3", "TERM_PROGRAM": "tmux"},
    )  # fmt: skip
    view = msgspec.structs.replace(view, data=data)
    return msgspec.structs.replace(busy(), pending=(critical_request(), view))


def with_subs() -> Snapshot:
    """The busy picture, the first session with three sub-agents, one of which asks."""
    api, *others = sessions()
    subs = (
        SubView(id="a1f3c2d4", type="reviewer", state=SessionState.WORKING,
                since=NOW_US - 65_000_000, calls=7),
        SubView(id="b7e1d9c0", type="test-writer", state=SessionState.WORKING,
                since=NOW_US - 37_000_000, calls=2),
        SubView(id="c0ffee12", type="explore", state=SessionState.GONE,
                since=NOW_US - 300_000_000, calls=41),
    )  # fmt: skip
    api = msgspec.structs.replace(
        api, subs=subs, calls=70, model="opus-4.5", mode="acceptEdits", autonomous=False
    )
    view = critical_request()
    data = msgspec.structs.replace(view.data, sub=Sub("b7e1d9c0", "test-writer"))
    rows = tuple(
        msgspec.structs.replace(row, sub=sub, sub_type=kind)
        for row in call_rows()
        for sub, kind in (_WHOSE.get(row.call, ("", "")),)
    )
    return msgspec.structs.replace(
        busy(),
        sessions=(api, *others),
        pending=(msgspec.structs.replace(view, data=data), high_request()),
        rows=rows,
    )


_WHOSE = {
    row.call: whose
    for row, whose in zip(
        [row for row in reversed(call_rows()) if row.label == "api-fix"],
        [("b7e1d9c0", "test-writer"), ("a1f3c2d4", "reviewer"), ("c0ffee12", "explore")],
        strict=False,
    )
}


def traced() -> Snapshot:
    """The busy picture, a call of it with the hooks that it met."""
    row = next(row for row in call_rows() if row.glyph == "=")
    rows = (
        ran("./hooks/fmt.sh", 0.4, 214, kind="command"),
        ran("acme-guard", 214.6, 26.1),
        ran("policy", 241, 0.3, "allow", kind="policy"),
        skipped("slack-notify", "filter"),
    )
    data = TraceData(native="PreToolUse", kind="tool.pre", decision="allow", decided_by="policy",
                     took_ms=243, tool=row.tool, summary=row.summary, rows=rows)  # fmt: skip
    trace = TraceView(seq=9, at=row.at, agent=row.agent, session=row.session, call=row.call,
                      label=row.label, data=data)  # fmt: skip
    return msgspec.structs.replace(busy(), traces=(trace,), rows=(*call_rows()[-12:], row))


async def payload(shown: Shown) -> None:
    """The payload of the second request, its list of watchers folded."""
    await shown.press("tab")
    page = PayloadScreen(None, "/home/ana")
    shown.app.pages.open(page)
    await shown.settle()
    await shown.settle()
    at = next(n for n, node in enumerate(page.view.rows_there) if node.name == "watchers")
    page.move(at)
    page.enter()


async def session(shown: Shown) -> None:
    """The page of the first session."""
    shown.app.pages.open(SessionScreen("claude", "api-fix-session", "/home/ana"))
    await shown.settle()


def test_old_and_new_side_by_side(snap_compare: Picture) -> None:
    """160x45: old lines left, new ones right, each with its number; the address with the hidden
    character underlined in its rule's colour, told by line below."""
    assert picture(snap_compare, workflow(), (160, 45), whole_second)


def test_a_payload_that_folds(snap_compare: Picture) -> None:
    """120x40: digest and sizes, names dim, the token covered, escapes visible, `[... 24 items]`
    under the cursor."""
    assert picture(snap_compare, mcp(), (120, 40), payload)


def test_a_session_with_sub_agents(snap_compare: Picture) -> None:
    """120x40: facts, a tree with who works and who asks, the newest calls."""
    assert picture(snap_compare, with_subs(), (120, 40), session)


def test_a_session_at_eighty_columns_on_a_light_terminal(snap_compare: Picture) -> None:
    """80x24, light: the same without air; the last line says how to go on."""
    assert picture(snap_compare, with_subs(), (80, 24), session, themed("light"))


async def newest(shown: Shown) -> None:
    """The newest call under the cursor."""
    await shown.press("k", "j")


def test_the_hooks_of_a_call_beside_the_calls(snap_compare: Picture) -> None:
    """160x45: the detail names the hooks with their times and bars, the deciding one in accent."""
    assert picture(snap_compare, traced(), (160, 45), newest)
