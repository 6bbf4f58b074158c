"""Types that several threads read first in the same moment, in a process of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import watchgate
from watchgate.core.model.records import Record, TraceData

ROUNDS = """
import sys, threading
import msgspec
from watchgate.core.base import decoding

sys.setswitchinterval(1e-6)
PLAIN = {"inner": {"words": ["a"]}, "more": [{"words": []}], "named": {"k": {"words": ["b"]}}}
TEXT = msgspec.json.encode(PLAIN)
wrong = []
for number in range(150):
    inner = msgspec.defstruct("Inner", [("words", list[str]), ("n", "int | None", None)])
    outer = msgspec.defstruct(
        "Outer", [("inner", inner), ("more", list[inner]), ("named", dict[str, inner])]
    )
    barrier = threading.Barrier(4)

    def read(way):
        barrier.wait()
        value = way()
        if value.named["k"].words != ["b"]:
            wrong.append(value)

    ways = [lambda: decoding.convert(PLAIN, outer), lambda: decoding.decode(TEXT, outer)] * 2
    threads = [threading.Thread(target=read, args=[way]) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
sys.exit(1 if wrong else 0)
"""


def rounds(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def test_threads_that_read_a_type_first_in_the_same_moment_all_read_it_right() -> None:
    run = rounds(ROUNDS)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_type_is_read_by_its_name_or_by_what_it_is_made_of() -> None:
    from watchgate.core.base import decoding

    line = b'{"seq": 1, "at": 2, "kind": "core.started", "data": {}, "v": 1, "core": "c"}'
    with pytest.raises(ValueError, match="missing required field"):
        decoding.convert({}, TraceData)
    assert decoding.decoder(Record).decode(line) == decoding.decode(line, Record)
    assert decoding.convert([1, 2], tuple[int, ...]) == (1, 2)


TYPED = re.compile(r"msgspec\.convert\(|msgspec\.json\.Decoder\(|json\.decode\([^\n]*, type=")


def test_nothing_else_in_the_program_has_msgspec_work_a_type_out() -> None:
    package = Path(watchgate.__file__).parent
    there = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if TYPED.search(path.read_text(encoding="utf-8"))
    ]
    assert there == ["core/base/decoding.py"]
