"""Programs that few know are explained in plain words where a call is."""

from __future__ import annotations

import re

from tests.core.policy.calls import judge_command
from watchgate.core.policy.inputs.programs import MAX_EXPLAINED, PROGRAMS, plain_words

MAX_CHARS = 90


def _lines(command: str) -> list[str]:
    return list(plain_words(judge_command(command).segments))


def test_each_program_of_a_call_is_explained_once_in_its_order() -> None:
    assert _lines("sudo socat - x; /usr/bin/dd if=a of=b; socat - y") == [
        f"socat: {PROGRAMS['socat']}",
        f"dd: {PROGRAMS['dd']}",
    ]


def test_a_program_of_a_family_is_explained_as_it_is() -> None:
    assert _lines("mkfs.ext4 /dev/sdb1") == [f"mkfs.ext4: {PROGRAMS['mkfs']}"]


def test_what_a_rule_allows_or_everybody_knows_is_not_explained() -> None:
    assert _lines("jq . a.json") == []
    assert _lines("./socat x; find.sh; ~/bin/dd of=x") == []
    assert _lines("git push && rm -rf x && cp a b") == []


def test_so_many_are_explained_as_are_read() -> None:
    assert len(_lines("dd x; nc x; socat x; strace x; parted x")) == MAX_EXPLAINED


def test_the_table_is_in_order_short_and_plain() -> None:
    names = list(PROGRAMS)
    assert len(names) >= 180
    assert len(set(names)) == len(names)
    for name, words in PROGRAMS.items():
        assert re.fullmatch(r"[a-z0-9_.-]+", name)
        assert re.match(r"[a-z]+s\b", words), name
        assert not words.endswith("."), name
        assert len(words) <= MAX_CHARS, name
