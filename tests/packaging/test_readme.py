"""What the documents name is there: files, headings, commands and targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from watchgate.cli import GROUPS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")
COMMANDS = {command for group in GROUPS.values() for command in group}


def prose(text: str) -> str:
    """The document without what it only quotes."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors that the headings of a document get."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {f"#{re.sub(r'[^a-z0-9_ -]', '', title.lower()).replace(' ', '-')}" for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for place, anchor in LINK.findall(prose(text)):
        target = document.parent / place if place else document
        assert target.exists(), place
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), place + anchor


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_is_named_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^    |`)watchgate ([a-z][a-z-]*)", text, re.MULTILINE))
    assert named <= COMMANDS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_target_that_is_named_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = document.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^    |`)make ([a-z][a-z-]*)", text, re.MULTILINE)) <= targets


def test_a_newcomer_reads_the_front_page_in_minutes() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    head = text[: text.index("## Use it")]
    assert re.findall(r"^    make (\w+)", head, re.MULTILINE) == ["lookback", "demo"]
