"""What every test gets: directories of its own, and the same randomness in every run of CI."""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

# No test may fail because the machine is slow: examples have no deadline, nor has making them.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
# A patched program fails often, and nobody reads its smallest counterexample.
FOUND = (Phase.explicit, Phase.generate)
settings.register_profile("mutants", settings.get_profile("ci"), phases=FOUND)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


YOUNG_OBJECTS = 10_000
"""So many are made before they are looked through: a console under test makes far more than 700."""


def pytest_collectstart() -> None:
    """Looks for no garbage among the tests themselves: they all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Looks for garbage among what the tests make."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
    gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The console lives on asyncio, so everything that it talks to is tested there."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def style_sheets_are_parsed_once() -> Iterator[None]:
    """Keeps what was read of a style sheet for the consoles to come: nothing changes it."""
    parse = Stylesheet._parse_rules
    known: dict[tuple[object, ...], list[RuleSet]] = {}

    def parsed(sheet: Stylesheet, css: str, read_from: CSSLocation, **more: Any) -> list[RuleSet]:
        key = frozenset(sheet._variables.items()), css, read_from, *more.items()
        if key not in known:
            known[key] = parse(sheet, css, read_from, **more)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        yield


NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the test's own, told from the others by a number.

    The one of pytest looks through those of all tests before it for a name that is still free,
    which takes longer with every test.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}{next(NUMBERS)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory whose name leaves room for a socket: the kernel takes 107 bytes of path.

    Under /tmp, since TMPDIR is long on macOS and under test runners.
    """
    path = Path(tempfile.mkdtemp(prefix="wg", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def runtime_dir(short_path: Path) -> Path:
    """The private runtime directory that this test's core, client and console use."""
    path = short_path / "watchgate"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """Where this test's journal lies; made by whoever needs it first."""
    return tmp_path / "state" / "watchgate"


def places(home_of: Path, short_path: Path, runtime_dir: Path, state_dir: Path) -> dict[str, str]:
    """Where every variable points that names a directory which we or an agent may use."""
    named = {
        "HOME": home_of / "home",
        "XDG_CACHE_HOME": home_of / "cache",
        "XDG_CONFIG_HOME": home_of / "config",
        "XDG_DATA_HOME": home_of / "data",
        "XDG_STATE_HOME": home_of / "state",
        "XDG_RUNTIME_DIR": short_path,
        "WATCHGATE_RUNTIME_DIR": runtime_dir,
        "WATCHGATE_STATE_DIR": state_dir,
        "WATCHGATE_CONFIG": home_of / "config" / "watchgate" / "config.toml",
        "CLAUDE_CONFIG_DIR": home_of / "home" / ".claude",
        "CODEX_HOME": home_of / "home" / ".codex",
    }
    return {name: str(path) for name, path in named.items()}


@pytest.fixture(scope="session", autouse=True)
def nobodys_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test has that made no directories of its own: none of the user's either."""
    path = tmp_path_factory.mktemp("nobody")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in places(path, path / "run", path / "run", path / "state").items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True)
def own_directories(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    short_path: Path,
    runtime_dir: Path,
    state_dir: Path,
) -> None:
    """Point every directory that we or an agent may use away from the user's own."""
    (tmp_path / "home").mkdir()
    for name, value in places(tmp_path, short_path, runtime_dir, state_dir).items():
        monkeypatch.setenv(name, value)
