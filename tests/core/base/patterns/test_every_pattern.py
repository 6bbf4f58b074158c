"""No pattern of the program can be made slow by a text, and none goes round `core.patterns`.

Times are of the processor, and bounds generous: what this is after takes seconds to years.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import watchgate.agents
import watchgate.core
from tests.core.base.patterns.pumped import pumped
from tests.core.policy.calls import judge_command
from watchgate.core.base.patterns import allowance
from watchgate.core.base.patterns.pattern import Pattern
from watchgate.core.base.patterns.regex_tree import parsed
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.secrets.redact import redact
from watchgate.service.policies.policy_files import shipped, shipped_files

CHARS = 2_000
LIMIT_S = 0.5
# Without a budget nothing else ends them, so that a square of the length is too much already.
FIXED_LIMIT_S = 0.1
SEED = int(os.environ.get("WATCHGATE_SEED", "1"))

# Patterns that are made at run time outside of `core.patterns`: of what, and why they may be.
MADE_ELSEWHERE = {
    "core/filters/filter_parser.py": "of an operator's own words, escaped",
    "core/policy/rules/compiled_rule.py": "of the path of a file of our own, escaped",
    "core/policy/matching/path_patterns.py": "one set of characters, or parts that stay in place",
    "core/secrets/secret_finder.py": "of the tables in its folder, tried below",
    "core/base/text.py": "one set of characters",
    "agents/table/payload_values.py": "of a name, escaped; what is left of it always fits",
    "agents/table/table_bodies.py": "an author's pattern, on what a command wrote",
    "agents/table/table_file.py": "the same, to see that it is one",
}


@pytest.fixture
def measured() -> Iterator[None]:
    """The processor's own time, as in the program."""
    allowance.measure_by(time.thread_time_ns)
    yield
    allowance.measure_by(None)


def took_s(work: Callable[[], object]) -> float:
    """Seconds of processor time; the better of two, for whatever else the machine does."""

    def once() -> float:
        began = time.thread_time()
        try:
            with allowance.one_text():
                work()
        except allowance.AllowanceSpent:
            pass
        return time.thread_time() - began

    first = once()
    return first if first < FIXED_LIMIT_S else min(first, once())


def patterns_in(root: object) -> list[Pattern]:
    """Every pattern that a value holds, also one that an earlier test had compiled already."""
    found: list[Pattern] = []
    known, left = set[int](), [root]
    while left:
        each = left.pop()
        if id(each) in known or isinstance(each, ModuleType | type):
            continue
        known.add(id(each))
        if isinstance(each, Pattern):
            found.append(each)
        elif isinstance(each, FunctionType):
            left += each.__closure__ or (), each.__defaults__ or ()
        else:
            left += gc.get_referents(each)
    return found


def test_every_pattern_of_the_policy_ends_soon(measured: None) -> None:
    policy = Policy.of(shipped_files())
    made = patterns_in(policy)
    assert len(policy.rules) > 100
    assert len(made) > 200
    for pattern in made:
        for text in pumped(parsed(pattern.source, pattern.flags), CHARS, SEED):
            for look in (pattern.search, pattern.match, pattern.fullmatch):
                assert took_s(partial(look, text)) < LIMIT_S, (pattern.source, text[:40])


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(info.name)


def fixed() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """Every pattern that a module of the core or an agent holds, and whether it is searched for."""
    for module in (*modules(watchgate.core), *modules(watchgate.agents)):
        source = Path(str(module.__file__)).read_text()
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                used = re.findall(rf"\b{name}\.(search|finditer|findall|subn?|split)\b", source)
                yield f"{module.__name__}.{name}", value, bool(used)


# They read what the user wrote, or what this program wrote itself.
NOT_FROM_OUTSIDE = (
    "watchgate.core.base.config_text.",
    "watchgate.core.dispatch.extensions.extension_spec.",
    "watchgate.core.history.history_row.",
    "watchgate.core.filters.filter_parser.",
    "watchgate.core.filters.filter_completion.",
)


def test_every_fixed_pattern_ends_soon_without_a_budget() -> None:
    tried = 0
    for name, pattern, searched in fixed():
        if name.startswith(NOT_FROM_OUTSIDE):
            continue
        tried += 1
        tree = parsed(pattern.pattern, pattern.flags & ~re.UNICODE)
        for text in pumped(tree, CHARS, SEED):
            for look in (pattern.search,) if searched else (pattern.match, pattern.fullmatch):
                assert took_s(partial(look, text)) < FIXED_LIMIT_S, (name, text[:40])
    assert tried > 60


def test_no_pattern_is_made_at_run_time_elsewhere() -> None:
    root = Path(watchgate.core.__file__).parent.parent
    made: set[str] = set()
    for path in (*(root / "core").rglob("*.py"), *(root / "agents").rglob("*.py")):
        if path.parent.name == "patterns":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=attr), args=[first, *_]
                ) if attr != "escape" and not is_fixed(first):
                    made.add(path.relative_to(root).as_posix())
    assert made == MADE_ELSEWHERE.keys()


def is_fixed(node: ast.expr) -> bool:
    """Whether an expression is a text, or put together from names of constants."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper()
        case ast.BinOp(left=left, right=right):
            return is_fixed(left) and is_fixed(right)
        case ast.JoinedStr(values=values):
            return all(map(is_fixed, values))
        case ast.FormattedValue(value=value):
            return is_fixed(value)
        case _:
            return False


HOSTILE = {
    "newlines": "\n",
    "blanks": " ",
    "tabs": "\t",
    "compact JSON": '{"a":"b","c":[1,2,{"d":"e"}]},',
    "print": "print $1; ",
    "slashes": "/",
    "folders": "/a",
    "tokens": "eyJa-",
    "brackets": "[",
    "names": "TOKEN=",
    "counts": "$(grep -c ",
    "defaults": "${A:-",
    "schemes": "http://",
    "headers": "authorization : ",
    "keys": "-----BEGIN PRIVATE KEY-----",
    "options": "--a-",
}
AROUND = ("sed '{}' f", "curl -X POST http://h/ -d '{}'", "awk '{}' f", "echo {}", 'python -c "{}"')


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_long_to_judge(unit: str, measured: None) -> None:
    shipped()
    for chars in (1_000, 18_000, 200_000):
        for around in AROUND:
            command = around.format(unit * (chars // len(unit)))
            assert took_s(lambda: judge_command(command)) < LIMIT_S, (around, chars)  # noqa: B023


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_long_to_redact(unit: str, measured: None) -> None:
    for chars in (200_000, 4 << 20):
        text = unit * (chars // len(unit))
        assert took_s(lambda: redact(text)) < LIMIT_S, chars  # noqa: B023
