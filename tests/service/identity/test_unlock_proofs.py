from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from tests.core.builders import START
from watchgate.core.base.clock import Instant
from watchgate.core.gate.operator_decisions import Refused
from watchgate.service.identity import unlock_proofs as pins
from watchgate.service.identity.sealed_files import ProofFile
from watchgate.service.identity.unlock_proofs import Guesses, Pin, PinTries
from watchgate.service.system.system_clock import FakeClock

RIGHT = "correct horse"


class Lock:
    """A PIN that is set, and a clock that a test moves."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock(START)
        self.file = ProofFile(folder / "pin")
        self.tries = folder / "pin-tries.json"
        self.pin = Pin(self.file, Guesses(PinTries(self.tries, self.clock)))

    def restart(self) -> None:
        """A core is started anew."""
        recorded = self.file.fingerprint
        self.file = ProofFile(self.file.path)
        self.file.load(recorded)
        self.pin = Pin(self.file, Guesses(PinTries(self.tries, self.clock)))

    async def wrong(self, guess: str = "123456") -> int | None:
        """For how long no PIN is taken after this guess."""
        with pytest.raises(Refused) as refused:
            await self.pin.verify(guess)
        assert refused.value.code == "wrong_pin"
        return refused.value.wait_s


@pytest.fixture
async def lock(tmp_path: Path) -> Lock:
    lock = Lock(tmp_path)
    await lock.pin.set(RIGHT)
    return lock


async def test_only_the_right_one_is_taken(lock: Lock) -> None:
    await lock.pin.verify(RIGHT)
    assert await lock.wrong() == 0
    await lock.pin.verify(RIGHT)


@pytest.mark.parametrize("short", ["", "12345"])
async def test_one_of_under_six_characters_is_not_taken(lock: Lock, short: str) -> None:
    with pytest.raises(Refused, match="6 to 1024 characters"):
        await lock.pin.set(short)
    await lock.pin.verify(RIGHT)


async def test_the_fifth_wrong_one_ends_in_a_pause_that_doubles(lock: Lock) -> None:
    assert [await lock.wrong() for _ in range(5)] == [0, 0, 0, 0, 30]
    with pytest.raises(Refused) as refused:
        await lock.pin.verify(RIGHT)
    assert refused.value.wait_s == 30, "nor is the right one taken meanwhile"
    lock.clock.advance(30)
    assert await lock.wrong() == 60
    lock.clock.advance(60)
    assert await lock.wrong() == 120
    lock.clock.advance(120)
    await lock.pin.verify(RIGHT)
    assert await lock.wrong() == 0, "the right one starts the count anew"


async def test_wrong_ones_and_the_pause_survive_the_core(lock: Lock) -> None:
    waits = []
    for _ in range(5):
        waits.append(await lock.wrong())
        lock.restart()
    assert waits == [0, 0, 0, 0, 30]
    with pytest.raises(Refused) as refused:
        await lock.pin.verify(RIGHT)
    assert refused.value.wait_s == 30
    lock.clock.advance(29)
    lock.restart()
    assert await lock.wrong() == 1, "one second is left"
    lock.clock.advance(1)
    assert await lock.wrong() == 60
    lock.clock.advance(60)
    lock.restart()
    await lock.pin.verify(RIGHT)
    lock.restart()
    assert await lock.wrong() == 0, "the right one starts the count anew"


async def test_a_core_that_ends_while_it_looks_at_one_has_counted_it(
    lock: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(pin: str, salt: bytes) -> bytes:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(pins, "_hash", ends)
        with pytest.raises(SystemExit):
            await lock.pin.verify("123456")
    lock.restart()
    assert [await lock.wrong() for _ in range(4)] == [0, 0, 0, 30]


async def test_a_clock_that_was_set_back_makes_no_pause_longer(lock: Lock) -> None:
    for _ in range(5):
        await lock.wrong()
    lock.clock = FakeClock(Instant(START.wall_us - 86_400_000_000, 7.0))
    lock.restart()
    assert await lock.wrong() == 30


@pytest.mark.parametrize("damage", [b"", b"{", b'{"wrong":-9,"until":0}', b'{"wrong":0}'])
async def test_a_count_that_cannot_be_read_counts_as_five(lock: Lock, damage: bytes) -> None:
    await lock.wrong()
    lock.tries.write_bytes(damage)
    lock.restart()
    assert await lock.wrong() == 30
    lock.clock.advance(30)
    await lock.pin.verify(RIGHT)


async def test_where_tries_cannot_be_counted_none_is_taken(lock: Lock) -> None:
    lock.tries.with_name("pin-tries.json.new").mkdir()
    with pytest.raises(Refused, match="cannot be counted") as refused:
        await lock.pin.verify(RIGHT)
    assert refused.value.code == "locked"


async def test_guesses_at_the_same_time_are_counted_one_by_one(lock: Lock) -> None:
    waits: list[int | None] = []

    async def guess(number: int) -> None:
        waits.append(await lock.wrong(f"{number:06d}"))

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(guess, number)
    assert sorted(each or 0 for each in waits) == [0] * 4 + [30] * 8


async def test_what_is_kept_is_a_salted_hash_that_only_its_owner_reads(lock: Lock) -> None:
    first = lock.file.path.read_bytes()
    assert RIGHT.encode() not in first
    assert set(json.loads(first)) == {"salt", "hash", "version"}
    assert lock.file.path.stat().st_mode & 0o777 == 0o600
    await lock.pin.set(RIGHT)
    assert lock.file.path.read_bytes() != first, "another salt"
    assert (pins.COST, pins.BLOCK, pins.LANES) == (32_768, 8, 1)


async def test_a_file_that_changes_under_a_running_core_changes_nothing(lock: Lock) -> None:
    assert not lock.file.differs()
    other = Lock(lock.file.path.parent)
    await other.pin.set("the agent's own")
    assert lock.file.differs()
    assert await lock.wrong("the agent's own") == 0
    await lock.pin.verify(RIGHT)
    lock.file.path.unlink()
    assert lock.file.differs()
    assert lock.pin.is_set


async def test_at_the_start_the_file_must_be_what_the_journal_says(lock: Lock) -> None:
    fingerprint = lock.file.fingerprint
    again = Lock(lock.file.path.parent)
    again.file.load(fingerprint)
    await again.pin.verify(RIGHT)
    for recorded in (None, "", "0" * 64):
        other = Lock(lock.file.path.parent)
        other.file.load(recorded)
        assert other.pin.is_set, "what is locked stays locked"
        with pytest.raises(Refused, match="not what the journal says") as refused:
            await other.pin.verify(RIGHT)
        assert refused.value.code == "locked"


async def test_a_file_taken_away_while_no_core_ran_locks(lock: Lock) -> None:
    fingerprint = lock.file.fingerprint
    lock.file.path.unlink()
    other = Lock(lock.file.path.parent)
    other.file.load(fingerprint)
    assert other.pin.is_set


async def test_a_file_that_others_could_have_written_locks(lock: Lock) -> None:
    lock.file.path.chmod(0o644)
    other = Lock(lock.file.path.parent)
    other.file.load(lock.file.fingerprint)
    assert "cannot be trusted" in other.file.distrusted


async def test_one_that_was_removed_is_not_asked_for(lock: Lock) -> None:
    await lock.pin.remove()
    assert not lock.pin.is_set
    assert not lock.file.path.exists()
    other = Lock(lock.file.path.parent)
    other.file.load("")
    assert not other.pin.is_set
    assert await other.wrong(RIGHT) is None
