"""The package keeps the rules of its house, and the documents that lead through it are true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts import house_check
from scripts.floor_plan import PICTURE, plan
from scripts.house_figures import PACKAGE, ROOT, House, begins_as_question, figures

DOCUMENTS = ("docs/architecture.md", "docs/glossary.md", "AGENTS.md", "CONTRIBUTING.md")
LIMITS = {
    "loose files in core, service, ui and cli": 0,
    "files in the package": 780,
    "modules with one importer": 180,
    "classes that share a name": 40,
    "module names that occur more than once": 25,
    "imports against a folder's order": 0,
    "circles of modules": 0,
    "arrows between folders of core, service and ui": 190,
    "longest file, lines": 450,
}
TERM = re.compile(r"^\| ([a-z][a-z ]*) \| (.+) \| `(.+)` \|$", re.MULTILINE)
PLACE = re.compile(r"`([\w/]+\.py):(\w[\w.]*)`")


@pytest.fixture(scope="module")
def house() -> House:
    return House()


@pytest.mark.parametrize("rule", ["class_names", "docstrings", "names", "loose_files"], ids=str)
def test_nothing_breaks_a_rule_of_the_house(house: House, rule: str) -> None:
    assert list(getattr(house_check, rule)(house)) == []


def test_the_exceptions_are_few_and_still_needed(house: House) -> None:
    assert len(house_check.EXCEPTIONS) <= 20
    text = "\n".join(map(ast.unparse, house.trees.values()))
    assert [name for name in sorted(house_check.EXCEPTIONS) if name not in text] == []


def test_the_package_is_easy_to_walk_through(house: House) -> None:
    counted = figures(house)
    over = {name: counted[name] for name in LIMITS if float(counted[name]) > LIMITS[name]}
    assert over == {}


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("What follows for a call.", True),
        ("Whether it ran.", True),
        ("`What` it is.", True),
        ("Returns what ran.", False),
        ("Whatever it is, in words.", False),
    ],
)
def test_a_docstring_that_asks_is_recognized(text: str, is_question: bool) -> None:
    assert begins_as_question(text) is is_question


def test_rules_find_what_breaks_them(tmp_path: Path) -> None:
    room = tmp_path / "watchgate" / "core"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "loose.py").write_text('"""What is loose."""\nclass Told: ...\n')
    (room / "other.py").write_text(
        "def f(unseen): ...\nclass Told: ...\nMOST_BYTES = 1\n'''How many.'''\nNOT_FOUND = 2\n"
    )
    house = House(tmp_path / "watchgate")
    assert [text.partition(":")[0] for text in house_check.loose_files(house)] == [
        "watchgate.core.loose",
        "watchgate.core.other",
    ]
    assert len(list(house_check.docstrings(house))) == 2
    assert len(list(house_check.class_names(house))) == 1
    assert len(list(house_check.names(house))) == 4


def test_the_floor_plan_is_drawn_from_the_imports_of_today(house: House) -> None:
    assert PICTURE.read_text(encoding="utf-8") == plan(house), "run `make floor-plan`"


def test_the_glossary_has_at_most_sixty_terms_each_explained_once() -> None:
    terms = TERM.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    names = [term for term, _, _ in terms]
    assert 40 <= len(names) <= 60
    assert len(set(names)) == len(names)
    assert [term for term, meaning, _ in terms if meaning.count(". ") or meaning[-1] != "."] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_place_that_a_document_names_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert [place for place in PLACE.findall(text) if not _exists(*place)] == []
    paths = re.findall(r"`((?:core|service|ui|cli|link|agents|demo|tests|scripts)/[\w./*]*)`", text)
    assert [path for path in paths if not _has(path)] == []


def _exists(path: str, name: str) -> bool:
    """Tells whether a file defines a class, function, variable, method or field."""
    file = next((base / path for base in (PACKAGE, ROOT) if (base / path).is_file()), None)
    if file is None:
        return False
    body: list[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    for part in name.split("."):
        found = next((node for node in body if part in _names(node)), None)
        if found is None:
            return False
        body = getattr(found, "body", [])
    return True


def _names(node: ast.stmt) -> set[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return {node.name}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Assign(targets=targets):
            return {each.id for each in targets if isinstance(each, ast.Name)}
    return set()


def _has(path: str) -> bool:
    return any(any(base.glob(path)) for base in (PACKAGE, ROOT))
