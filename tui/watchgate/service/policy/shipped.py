"""The policy that comes with this program."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from watchgate.core.policy.code.loading import load_readers
from watchgate.core.policy.load import Loaded, load
from watchgate.core.policy.policy import Policy


@lru_cache(maxsize=1)
def shipped_files() -> tuple[Loaded, ...]:
    """The shipped files, in the order of their names."""
    folder = resources.files("watchgate.core.policy") / "shipped"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(load(f.read_text("utf-8"), f"shipped/{f.name}", "shipped") for f in found)


@lru_cache(maxsize=1)
def shipped() -> Policy:
    """The shipped policy alone, with the readers of code loaded, so that no call waits for them."""
    load_readers()
    return Policy.of(shipped_files())
