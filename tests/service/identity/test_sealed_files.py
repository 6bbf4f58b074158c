"""What a running core takes for its secret, whatever becomes of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from watchgate.service.identity.sealed_files import SealedFile
from watchgate.service.system import safe_files

BLOCKED_S = 0.05
"""Seconds in which a look that nothing held back would be over."""


@pytest.fixture
def sealed(tmp_path: Path) -> SealedFile:
    sealed = SealedFile(tmp_path / "pin.json")
    sealed.replace(b"one")
    return sealed


def test_a_file_that_was_changed_beside_the_core_counts_for_nothing(sealed: SealedFile) -> None:
    sealed.path.write_bytes(b"another")
    assert sealed.differs()
    assert sealed.content == b"one"


def test_one_that_is_gone_differs_and_one_that_never_was_does_not(sealed: SealedFile) -> None:
    sealed.path.unlink()
    assert sealed.differs()
    assert not SealedFile(sealed.path).differs()


def test_only_the_recorded_file_is_trusted_by_the_next_core(sealed: SealedFile) -> None:
    again = SealedFile(sealed.path)
    again.load(sealed.fingerprint)
    assert again.content == b"one"
    sealed.path.write_bytes(b"another")
    distrusting = SealedFile(sealed.path)
    distrusting.load(sealed.fingerprint)
    assert distrusting.content is None
    assert "is not what the journal says" in distrusting.distrusted


@pytest.mark.parametrize("content", [b"two", None])
def test_no_look_comes_between_the_file_and_the_memory_of_it(
    sealed: SealedFile, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    looks: list[bool] = []
    threads: list[Thread] = []

    def looking(change: Callable[..., None]) -> Callable[..., None]:
        def changed(*given: object, **more: object) -> None:
            change(*given, **more)
            threads.append(Thread(target=lambda: looks.append(sealed.differs())))
            threads[-1].start()
            threads[-1].join(BLOCKED_S)

        return changed

    monkeypatch.setattr(safe_files, "replace_own_file", looking(safe_files.replace_own_file))
    monkeypatch.setattr(Path, "unlink", looking(Path.unlink))
    sealed.replace(content)
    for thread in threads:
        thread.join()
    assert looks
    assert not any(looks)
