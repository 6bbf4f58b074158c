from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.service.desk import Desk
from tests.service.hub.test_grant_sync import view
from tests.service.wire_frames import until
from watchgate.core.model.standing_grant import UNUSED_US
from watchgate.service.hub import grant_sync
from watchgate.service.hub.grant_sync import GrantStore, load_grants, save_grants


@pytest.fixture
def desk() -> Desk:
    return Desk("strict")


@pytest.fixture
def store(desk: Desk, tmp_path: Path) -> GrantStore:
    return GrantStore(tmp_path / "grants.json", desk.hub.engine.grants.permanent)


def fresh(desk: Desk, id: str = "r1") -> None:
    import msgspec

    now = desk.clock.now().wall_us
    kept = msgspec.structs.replace(view(id), given_at=now, until_at=now + UNUSED_US)
    desk.hub.execute(desk.hub.engine.grants.restore((kept,), desk.clock.now()))


def test_a_core_that_starts_takes_over_what_was_kept(desk: Desk, store: GrantStore) -> None:
    fresh(desk)
    save_grants(store.path, desk.hub.engine.grants.permanent())
    later = Desk("strict")
    grant_sync.take_over_grants(
        later.hub,
        GrantStore(store.path, later.hub.engine.grants.permanent),
        later.clock.now(),
    )
    assert later.kinds() == ["grant.kept"]
    assert list(later.hub.recorder.state.grants) == ["r1"]


def test_what_is_too_old_is_ended_on_record(desk: Desk, store: GrantStore) -> None:
    save_grants(store.path, (view(),))
    grant_sync.take_over_grants(desk.hub, store, desk.clock.now())
    assert desk.kinds() == ["grant.kept", "grant.expired"]
    assert desk.hub.recorder.state.grants == {}


def test_a_file_that_cannot_be_read_is_said_on_record_and_grants_nothing(
    desk: Desk, store: GrantStore
) -> None:
    store.path.write_text("{")
    store.path.chmod(0o600)
    grant_sync.take_over_grants(desk.hub, store, desk.clock.now())
    assert desk.kinds() == ["policy.fault"]
    assert "give the grants anew" in desk.last("policy.fault")["detail"]
    assert desk.hub.engine.grants.permanent() == ()


async def test_what_changes_is_written_and_a_fault_is_told_once(
    desk: Desk, store: GrantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grant_sync, "SAVE_EACH_S", 0)
    in_the_way = store.path.with_name("grants.json.new")
    async with anyio.create_task_group() as tasks:
        await tasks.start(grant_sync.sync_grants, desk.hub, store, desk.clock.now())
        in_the_way.mkdir()
        fresh(desk)
        await until(lambda: "policy.fault" in desk.kinds(), "the fault")
        in_the_way.rmdir()
        await until(store.path.exists, "the file")
        tasks.cancel_scope.cancel()
    assert desk.kinds().count("policy.fault") == 1
    assert [each.id for each in load_grants(store.path)] == ["r1"]
