"""Sessions that were recorded, made record by record, and the page that tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from html.parser import HTMLParser
from typing import Any

from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.model.records import Draft, Record
from watchgate.core.report.call_steps import build_story
from watchgate.core.report.html_page import JournalProof, report_page

NOON_US = 1_795_176_000_000_000
"""Fri 20 Nov 2026, 12:00:00 UTC."""

PROOF = JournalProof(sound=True, words="unbroken", made_at=NOON_US, program="watchgate 1.2.3")
VOID = ("meta",)


class Told:
    """Records of one session and of its core, a second apart."""

    def __init__(self, agent: str = "claude", session: str = "s1", core: str = "core-a") -> None:
        self.agent, self.session = agent, session
        self.records: list[Record] = []
        self._chain = Chain(core, START, lambda data: data)

    def add(
        self, kind: str, /, call: str | None = None, request: str | None = None, **data: Any
    ) -> None:
        self._seal(kind, data, self.agent, self.session, call, request)

    def of_core(self, kind: str, **data: Any) -> None:
        self._seal(kind, data, None, None, None, None)

    def _seal(self, kind: str, data: dict[str, Any], *whose: str | None) -> None:
        agent, session, call, request = whose
        at = NOON_US + len(self.records) * 1_000_000
        draft = Draft(kind=kind, at=at, data=data, agent=agent, session=session, call=call,
                      request=request)  # fmt: skip
        self.records.append(self._chain.seal(draft)[0])

    def ran(self, call: str, command: str, **more: Any) -> None:
        """A call that nobody held, and its result."""
        self.asked(call, shell(command), "handback")
        self.add("tool.post", call, native="PostToolUse", tool=shell(command), summary=command,
                 **{"ok": True, "took_ms": 40, **more})  # fmt: skip

    def asked(self, call: str, tool: dict[str, Any], gate: str = "held", **more: Any) -> None:
        self.add("tool.pre", call, **{**_call(tool), "gate": gate, "cwd": "/srv/app", **more})

    def held(self, call: str, tool: dict[str, Any], **more: Any) -> None:
        """A call that is put to a person."""
        self.asked(call, tool)
        fields = {**_call(tool), "timeout_s": 60.0, **more}
        self.add("approval.requested", call, f"request-{call}", **fields)

    def decided(self, call: str, word: str, by: str = "operator ana", waited_s: float = 14) -> None:
        self.add("approval.decided", call, f"request-{call}", word=word, by=by, waited_s=waited_s)

    def page(self, proof: JournalProof = PROOF, *, core: str = "") -> Page:
        told = build_story(self.records, self.agent, self.session, core=core)
        return Page("".join(report_page(told, proof, UTC)))


def _call(tool: dict[str, Any]) -> dict[str, Any]:
    return {
        "native": "PreToolUse",
        "lane": "gate",
        "tool": tool,
        "summary": tool["input"].get("command", tool["name"]),
        "risk": "high",
        "rule": "git.push",
        "reason": "Sends commits",
    }


def shell(command: str) -> dict[str, Any]:
    """A shell call as a record holds it."""
    return {"name": "Bash", "native_name": "Bash", "cls": "shell", "input": {"command": command},
            "input_hash": "0"}  # fmt: skip


def edit(old: str, new: str) -> dict[str, Any]:
    """An edit as a record holds it."""
    return {"name": "Edit", "native_name": "Edit", "cls": "edit", "input_hash": "0",
            "input": {"file_path": "src/a.py", "old_string": old, "new_string": new}}  # fmt: skip


class Page(HTMLParser):
    """A page as a browser takes it: every tag, every attribute, and the text of every element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert not self._open, "an element is never closed"

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes += given.items()
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))
            self.texts.append((f"{tag}.{given.get('class', '')}", ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, name = self._open[-1]
            self.texts.append((f"{tag}.{name}", data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:40]}")

    def of(self, name: str) -> list[str]:
        """The texts that stand in elements of this tag and class, `tag.class`."""
        return [text for place, text in self.texts if place == name and text]

    @property
    def text(self) -> str:
        """All that can be read, one line for each piece."""
        return "\n".join(text for place, text in self.texts if text and place != "style.")
