"""The list of what was installed: private, whole, and never half of two installations."""

from __future__ import annotations

import stat
from pathlib import Path
from threading import Thread

import pytest

from watchgate.service.setup import manifest
from watchgate.service.setup.manifest import InstalledFile, ManifestError


def entry(name: str, digest: str = "d") -> InstalledFile:
    return InstalledFile(part="hooks", path=f"/home/u/{name}", digest=digest, agent=name)


def test_what_was_noted_is_found_again_and_replaced_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "data" / "installed.json"
    assert manifest.load_manifest(path) is None
    manifest.update_manifest(path, [entry("claude"), entry("codex")])
    manifest.update_manifest(path, [entry("claude", "new")], {entry("codex").key})
    assert manifest.load_manifest(path) == (entry("claude", "new"),)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_installations_at_once_both_count(tmp_path: Path) -> None:
    path = tmp_path / "installed.json"
    names = [f"agent{n}" for n in range(8)]
    threads = [
        Thread(target=manifest.update_manifest, args=(path, [entry(name)])) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.agent for each in manifest.load_manifest(path) or ()} == set(names)


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_a_list_that_others_could_have_written_says_nothing(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "installed.json"
    manifest.update_manifest(path, [entry("claude")])
    path.chmod(mode)
    with pytest.raises(ManifestError, match="others own it or could have written it"):
        manifest.load_manifest(path)


def test_a_list_that_is_none_is_begun_anew_by_the_next_installation(tmp_path: Path) -> None:
    path = tmp_path / "installed.json"
    path.write_text("{")
    path.chmod(0o600)
    with pytest.raises(ManifestError):
        manifest.load_manifest(path)
    manifest.update_manifest(path, [entry("claude")])
    assert manifest.load_manifest(path) == (entry("claude"),)
