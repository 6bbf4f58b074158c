"""Grants for good outlive a core, and nobody else can give any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watchgate.core.model.standing_grant import GrantRule, GrantView
from watchgate.service.hub import grant_sync
from watchgate.service.hub.grant_sync import GrantsError, GrantStore, load_grants, save_grants


def view(id: str = "r1") -> GrantView:
    return GrantView(
        id=id,
        scope="always",
        agent="claude",
        session="one",
        folder="/srv/app",
        tool="Bash",
        summary="npm run build",
        by="operator ann",
        given_at=1,
        rules=(GrantRule(words=("npm", "run", "build"), more=True, tool="Bash"),),
        answers=("npm.scripts",),
        until_at=2,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "grants.json"


def test_what_was_written_is_read_again_and_is_ours_alone(path: Path) -> None:
    save_grants(path, (view(), view("r2")))
    assert load_grants(path) == (view(), view("r2"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.with_name("grants.json.new").exists()


def test_no_file_is_no_grant(path: Path) -> None:
    assert load_grants(path) == ()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 2}', '{"version": 1, "grants": [{}]}', '{"version": 1, "x": 1}'],
)
def test_a_file_that_cannot_be_read_is_set_aside_and_grants_nothing(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(GrantsError, match=r"grants\.json: .*moved to grants\.json\.unread.*asked"):
        load_grants(path)
    assert path.with_name("grants.json.unread").read_text() == text
    assert load_grants(path) == ()


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o622])
def test_a_file_that_others_could_have_touched_is_not_read(path: Path, mode: int) -> None:
    save_grants(path, (view(),))
    path.chmod(mode)
    with pytest.raises(GrantsError, match="others own it or could have written it"):
        load_grants(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_not_read(path: Path) -> None:
    save_grants(path, (view(),))
    os.chown(path, 12_345, -1)
    with pytest.raises(GrantsError, match="others own it or could have written it"):
        load_grants(path)


def test_a_link_is_not_followed(path: Path) -> None:
    save_grants(path.with_name("elsewhere.json"), (view(),))
    path.symlink_to(path.with_name("elsewhere.json"))
    with pytest.raises(GrantsError):
        load_grants(path)


def test_what_was_put_in_the_way_is_not_written_through(path: Path) -> None:
    other = path.with_name("victim")
    other.write_text("mine")
    path.with_name("grants.json.new").symlink_to(other)
    save_grants(path, (view(),))
    assert other.read_text() == "mine"
    assert load_grants(path) == (view(),)


async def test_the_store_writes_only_what_has_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grants, written = [view()], list[int]()
    monkeypatch.setattr(grant_sync, "save_grants", lambda _path, views: written.append(len(views)))
    store = GrantStore(path, lambda: tuple(grants))
    await store.save()
    await store.save()
    grants.clear()
    await store.save()
    assert written == [1, 0]


async def test_what_cannot_be_written_raises_and_is_tried_again(path: Path) -> None:
    store = GrantStore(path, lambda: (view(),))
    path.with_name("grants.json.new").mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - the kind differs by platform
        await store.save()
    path.with_name("grants.json.new").rmdir()
    await store.save()
    assert load_grants(path) == (view(),)
