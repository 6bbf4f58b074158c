"""Whatever an agent, a file or a forger wrote is text on the page: never a tag, never hidden."""

from __future__ import annotations

import shlex
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.report.told import Page, Told, edit, shell
from watchgate.core.base.text import safe_text
from watchgate.core.report.html_page import STYLE

TAGS = set(
    "html head meta title style body main header section nav article figure figcaption details "
    "summary div p span a time b code pre strong h1 h2 h3 dl dt dd ol ul li table thead tbody tr "
    "th td".split()
)
ATTRIBUTES = {"class", "id", "href", "title", "charset", "name", "content", "http-equiv", "lang"}

EVIL = st.sampled_from(
    [
        "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</style><b>", "<!--",
        "-->", "]]>", "</title>", "</pre></article></main>", '" onmouseover="alert(1)', "'", "&lt;",
        "&#60;", "javascript:alert(1)", "\u202eevil", "\x1b[31m", "\x00", "\r", "\u200b", "\ufeff",
        "\U000e0041", "\n", "\t", "x" * 300, "<svg/onload=alert(1)>", "<",
    ]
)  # fmt: skip
TEXT = st.lists(EVIL | st.text(max_size=8), max_size=4).map("".join)
KEYS = TEXT | st.sampled_from(
    "native lane tool summary gate word risk rule reason cwd mode sub findings rows facts text ok "
    "result took_ms exit_code by waited_s scope timeout_s silence name cls input input_hash alarm "
    "what why until detail decision decided_by handler status verdict duration_ms command".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)
KINDS = st.sampled_from(
    "session.start prompt.submit turn.end tool.pre tool.permission tool.post tool.error question "
    "approval.requested approval.facts approval.decided approval.escalated effect.contradicted "
    "effect.ungated hook.trace usage notice message policy.off policy.paused policy.ungated "
    "made.up".split()
)


def check(page: Page) -> None:
    assert page.tags <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    links = [value for name, value in page.attributes if name == "href"]
    assert all(link.removeprefix("#record-").isdecimal() for link in links)
    assert page.of("style.") == [STYLE]
    for line in page.html.replace("\t", "").split("\n"):
        assert safe_text(line) == line, "something that cannot be seen"


@settings(max_examples=25)
@given(TEXT, TEXT, TEXT, TEXT)
def test_texts_from_outside_stay_texts(one: str, two: str, three: str, four: str) -> None:
    told = Told(agent=f"a{one}", session=f"s{two}")
    told.add("session.start", native=one, cwd=two, mode=three)
    told.add("prompt.submit", native=one, text=four)
    told.held("c1", {**shell(one), "name": two}, risk=three, reason=four, rule=one,
              findings=[{"risk": one, "reason": two, "rule": three, "suggest": four}],
              before={"command": two}, raised=three)  # fmt: skip
    told.add("approval.facts", "c1", facts=[{"text": one}])
    told.decided("c1", "denied-by-operator", by=two)
    told.asked("c2", edit(one, two), "handback")
    told.add("tool.post", "c2", native=one, ok=True, result=two, summary=three, tool=edit(one, two))
    told.add("hook.trace", "c2", native=one, decision=two, decided_by=three, took_ms=1,
             rows=[{"handler": one, "role": two, "status": "ran", "verdict": three,
                    "detail": four}])  # fmt: skip
    page = told.page()
    check(page)
    shown = safe_text(four)
    assert not shown or shown in page.text


@settings(max_examples=25)
@given(st.lists(st.tuples(KINDS, st.dictionaries(KEYS, JSON, max_size=8)), min_size=1, max_size=6))
def test_records_of_any_shape_make_a_page(found: list[tuple[str, dict[str, Any]]]) -> None:
    told = Told()
    for kind, data in found:
        told.add(kind, "c1" if "." in kind else None)
        told.records[-1].data.update(data)
    check(told.page())


def test_a_command_to_copy_is_one_word_whatever_the_session_is_called() -> None:
    told = Told(session="x'; rm -rf ~ #")
    told.ran("c1", "ls")
    (line,) = (each for each in told.page().of("code.") if each.startswith("watchgate export"))
    assert shlex.split(line) == ["watchgate", "export", "--session", "claude:x'; rm -rf ~ #"]


def test_inputs_of_megabytes_make_no_page_of_megabytes() -> None:
    much = "<b>\u202e" * (1 << 20)
    told = Told()
    told.held("c1", shell(much))
    told.asked("c2", edit(much, "x"), "handback")
    told.add("tool.post", "c2", native="n", ok=True, result=much, summary="s", tool=edit(much, "x"))
    page = told.page()
    check(page)
    assert len(page.html) < 1_500_000
    assert "more characters are in the export as JSON lines" in page.text
    assert "too long to be shown" in page.text
