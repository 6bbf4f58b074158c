"""What a core keeps in memory of each record: it grows with the calls that its screens can show."""

from __future__ import annotations

import argparse
import itertools
import socket
import sys
import time
from collections.abc import Iterator

import anyio

from bench.figures import Beside, Figure, report
from bench.payloads import lines
from bench.serving import Core, core, memory_bytes
from watchgate.link.control_client import connect

LIMIT = 1.0
ROW_BYTES = 1_024
FIRST = 10_000
"""Records after which a core has loaded whatever it needs."""

LOOK_S, REST_S = 0.1, 1.0


def feed(place: Core, story: Iterator[bytes], count: int, before: int) -> int:
    """Sends so many lines; the bytes of memory once the core has recorded them all and rests."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(place.ingest))
        for _ in range(0, count, 100):
            connection.sendall(b"".join(itertools.islice(story, 100)))
        while anyio.run(_newest, place) < before + count:
            time.sleep(LOOK_S)
    time.sleep(REST_S)
    return memory_bytes(place.pid)


async def _newest(place: Core) -> int:
    async with connect(place.control) as client:
        return (await client.attach()).seq


def figures(records: int) -> Iterator[Figure]:
    """Bytes of resident memory for each record more."""
    story = lines()
    with core() as place:
        empty = feed(place, story, FIRST, 0)
        full = feed(place, story, records, FIRST)
    grown = (full - empty) / records
    told = f"{records:,} records; {empty / 1e6:.0f} MB before them, {full / 1e6:.0f} MB after"
    allowed = Beside("1 KiB", ROW_BYTES)
    yield Figure("memory of a core, for each record", grown, "bytes", allowed, LIMIT, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    return report(figures(parser.parse_args().records))


if __name__ == "__main__":
    sys.exit(main())
