"""How other machines are named, and what is never passed on to ssh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.link.ssh import COMMAND, BadTarget, Target, parse_target, ssh_argv


@pytest.mark.parametrize(
    ("text", "target", "name"),
    [
        ("ssh://lab2", Target("lab2"), "lab2"),
        ("ssh://lab2/", Target("lab2"), "lab2"),
        ("ssh://ana@lab2:2222", Target("lab2", "ana", 2222), "lab2"),
        ("ssh://build-1.example.org", Target("build-1.example.org"), "build-1.example.org"),
        ("ssh://[fe80::1]:22", Target("fe80::1", None, 22), "fe80..1"),
    ],
)
def test_a_target_names_a_machine(text: str, target: Target, name: str) -> None:
    assert parse_target(text) == target
    assert target.name == name
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(
    "text",
    [
        "lab2",
        "",
        "ssh://",
        "http://lab2",
        "ssh://-oProxyCommand=touch x",
        "ssh://-oProxyCommand=x",
        "ssh://a b",
        "ssh://lab2;id",
        "ssh://$(id)",
        "ssh://`id`",
        "ssh://lab2\n",
        "ssh://lab2/etc",
        "ssh://-l@lab2",
        "ssh://a@b@c",
        "ssh://lab2:0",
        "ssh://lab2:65536",
        "ssh://lab2:ssh",
        "ssh://l\u0430b2",
        "ssh://[::1",
    ],
)
def test_whatever_is_no_name_is_refused_before_ssh_sees_it(text: str) -> None:
    with pytest.raises(BadTarget):
        parse_target(text)


@given(st.text(max_size=40))
def test_no_target_becomes_an_option_or_a_command(text: str) -> None:
    try:
        target = parse_target(f"ssh://{text}")
    except BadTarget:
        return
    argv = ssh_argv(target)
    assert argv[argv.index("--") + 1 :] == [target.host, *COMMAND]
    assert not target.host.startswith("-")
    assert all(char.isascii() and (char.isalnum() or char in "._-:") for char in target.host)


def test_ssh_may_ask_for_nothing_and_forwards_nothing() -> None:
    argv = ssh_argv(Target("lab2", "ana", 2222), ("ssh", "-F", "mine"))
    assert argv[:3] == ["ssh", "-F", "mine"]
    words = " ".join(argv)
    assert "-T" in argv
    assert "BatchMode=yes" in words
    assert "ClearAllForwardings=yes" in words
    assert words.endswith("-p 2222 -l ana -- lab2 watchgate stdio")
