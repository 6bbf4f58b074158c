"""Reads policy files, the shipped ones and those of admin, user and project."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from watchgate.core.policy.code.loading import load_readers
from watchgate.core.policy.load import Loaded, load
from watchgate.core.policy.policy import Policy


@lru_cache(maxsize=1)
def shipped_files() -> tuple[Loaded, ...]:
    """Returns the shipped files, in the order of their names."""
    folder = resources.files("watchgate.core.policy") / "shipped"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(load(f.read_text("utf-8"), f"shipped/{f.name}", "shipped") for f in files)


@lru_cache(maxsize=1)
def shipped() -> Policy:
    """Returns the shipped policy alone, with the readers of code loaded: no call waits for them."""
    load_readers()
    return Policy.of(shipped_files())
