"""The copy of a stream for the core: what it takes too slowly gives way, and is counted."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import msgspec

from watchgate.service.bridges.tap import Tap

LINE = b'{"type":"x","text":"%s"}\n' % (b"y" * 1_000)
# More than a socket holds by itself.
LINES = 4_000
WAIT_S = 30.0


def test_every_line_that_gave_way_is_in_the_number_that_is_told(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.mkdir(mode=0o700)
    told: list[str] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "ingest.sock"))
        (place / "ingest.sock").chmod(0o600)
        listener.listen()
        tap = Tap("codex", told.append, limit_bytes=10_000)
        tap.connect(place / "ingest.sock")
        listener.settimeout(WAIT_S)
        core, _ = listener.accept()
    (source, write), (copied, sink) = os.pipe(), os.pipe()
    copying = threading.Thread(target=tap.copy, args=(source, sink))
    copying.start()
    for _ in range(LINES):
        os.write(write, LINE)
        assert len(os.read(copied, len(LINE))) == len(LINE), "the stream itself lost nothing"
    # Only now does the core read: most of it has given way.
    os.close(write)
    taken = [msgspec.json.decode(line) for line in core.makefile("rb")]
    copying.join(WAIT_S)
    core.close()
    for each in (source, copied, sink):
        os.close(each)
    missing = sum(line.get("dropped", 0) for line in taken)
    assert sum("type" in line for line in taken) + missing == LINES
    assert missing > 0
    assert told == [f"{missing} lines were copied but not recorded"]
