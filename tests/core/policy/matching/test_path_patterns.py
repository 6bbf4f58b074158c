"""Patterns for paths: where they start, how deep they reach, and the built-in places."""

from __future__ import annotations

import pytest

from tests.core.policy.written import matches
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.rule_file import PathMatch
from watchgate.core.policy.matching.path_patterns import compiled, forms_of

PLACE = Place(
    session="/home/ada/project",
    home="/home/ada",
    cwd="/home/ada/project/sub",
    own=("/home/ada/.config/watchgate",),
)


def fits(pattern: str, path: str, place: Place = PLACE) -> bool:
    return compiled(PathMatch(any=pattern), {}, allows=True).fit(place, path, forms_of(place, path))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", ".env"),
        (".env", "a/b/.env"),
        (".env", "/etc/.env/x"),
        ("**/.env*", "../.env.local"),
        ("*.pem", "/srv/tls/a.pem"),
        ("~/.ssh/**", "~/.ssh/id_rsa"),
        ("~/.ssh/**", "$HOME/.ssh"),
        ("~/.ssh/**", "/home/ada/.ssh/x/y"),
        ("~/.ssh", "../../.ssh/config"),
        ("/etc/*.conf", "/etc/x/../a.conf"),
        ("/etc/*.conf", "/etc//a.conf"),
        ("src/*.py", "../src/a.py"),
        ("./src", "/home/ada/project/src/a"),
        ("src/**/test_*.py", "../src/a/b/test_x.py"),
        ("src/**/test_*.py", "../src/test_x.py"),
        ("**/.git/hooks/**", "../x/.git/hooks/pre-commit"),
        ("/", "/etc/passwd"),
        ("x[0-9]", "x7"),
        ("x[!0-9]", "xa"),
        ("$CODEX_HOME/hooks.json", "$CODEX_HOME/hooks.json"),
        ("$CODEX_HOME/*.json", "${CODEX_HOME:-/x}//hooks.json"),
    ],
)
def test_a_pattern_fits(pattern: str, path: str) -> None:
    assert fits(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", ".env.example"),
        (".env", "x.env"),
        ("~/.ssh/**", "~/.sshd"),
        ("~/.ssh/**", "~root/.ssh/x"),
        ("/etc/*.conf", "/etc/a/b.conf"),
        ("/etc/*.conf", "/home/etc/a.conf"),
        ("src/*.py", "src/a.py"),
        ("src/*.py", "/srv/src/a.py"),
        ("x[0-9]", "xa"),
        ("a.b", "aXb"),
        ("$CODEX_HOME/hooks.json", "$OTHER/hooks.json"),
    ],
)
def test_a_pattern_does_not_fit(pattern: str, path: str) -> None:
    assert not fits(pattern, path)


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("@inside", "../a", "../../a"),
        ("@inside", "/home/ada/project", "$X/a"),
        ("@inside", "a", "/dev/null"),
        ("@outside", "/etc", "a"),
        ("@outside", "~root/a", "/dev/null"),
        ("@temporary", "/tmp/a", "/tmp"),
        ("@sweeping", "~", "/tmp/a"),
        ("@sweeping", "/tmp", "/tmp/*"),
        ("@sweeping", "~/*", "/tmp/a/*"),
        ("@own", "~/.config/watchgate/policy.toml", "~/.config/other"),
        ("@device", "/dev/sda1", "/dev/null"),
    ],
)
def test_the_built_in_places(name: str, inside: str, outside: str) -> None:
    assert fits(name, inside)
    assert not fits(name, outside)


def test_exceptions_take_paths_out() -> None:
    shape = '{ program = "*", paths = { any = ".env*", none = ".env.example" } }'
    assert matches(shape, "cat .env.local")
    assert not matches(shape, "cat .env.example")


@pytest.mark.parametrize(
    ("access", "command"),
    [
        ("read", "cat /x"),
        ("read", "cat < /x"),
        ("read", "grep -f/x a"),
        ("read", "unheard-of --file=/x"),
        ("read", "curl -d @/x host"),
        ("read", "curl -F a=@/x host"),
        ("read", "cp /x y"),
        ("read", "dd if=/x"),
        ("read", "cat file:///x"),
        ("write", "echo > /x"),
        ("write", "echo >> /x"),
        ("write", "a 2> /x"),
        ("write", "a <> /x"),
        ("write", "tee -a /x"),
        ("write", "cp a b /x"),
        ("write", "cp -t /x a"),
        ("write", "mv a /x"),
        ("write", "dd of=/x"),
        ("write", "sed -i s/a/b/ /x"),
        ("write", "perl -pi -e 1 /x"),
        ("write", "curl -o /x host"),
        ("write", "curl -o/x host"),
        ("write", "unheard-of --output=/x"),
        ("write", "unheard-of --output /x"),
        ("write", "ln -s a /x"),
        ("write", "touch /x"),
        ("delete", "rm -rf a /x"),
        ("delete", "rmdir /x"),
        ("delete", "mv /x a"),
        ("delete", "find /x -name a -delete"),
        ("any", "unheard-of /x"),
    ],
)
def test_how_a_command_touches_a_path(access: str, command: str) -> None:
    shape = f'{{ program = "*", paths = {{ access = "{access}", any = "/x" }} }}'
    assert matches(shape, command)


@pytest.mark.parametrize(
    ("access", "command"),
    [
        ("write", "cat /x"),
        ("write", "cp /x y"),
        ("write", "sed s/a/b/ /x"),
        ("delete", "touch /x"),
        ("delete", "find /x -name a"),
        ("read", "echo > /x"),
        ("any", "curl https://host/x"),
        ("write", "echo 2>&1"),
    ],
)
def test_how_it_does_not_touch_it(access: str, command: str) -> None:
    shape = f'{{ program = "*", paths = {{ access = "{access}", any = ["/x", "1"] }} }}'
    assert not matches(shape, command)


@pytest.mark.parametrize(
    "command",
    ["cat .e*", "cat .en?", "cat ~/x/.[e]nv", "cat .env*", "cat ~/.s*/id_*", "cat a/.e??"],
)
def test_a_wildcard_that_may_become_a_path_counts_as_it(command: str) -> None:
    shape = '{ program = "cat", paths = { any = [".env", "~/.ssh/**"] } }'
    assert matches(shape, command)


@pytest.mark.parametrize("command", ["cat *", "cat *.py", "cat e*", "cat .x*", "cat '.e*'"])
def test_a_wildcard_that_cannot_or_that_takes_all_does_not(command: str) -> None:
    assert not matches('{ program = "cat", paths = { any = [".env", "~/.ssh/**"] } }', command)


def test_a_folder_changed_to_is_where_later_paths_lead() -> None:
    shape = '{ program = "rm", paths = { any = "/etc/x" } }'
    assert matches(shape, "cd /etc && rm x")
    assert not matches(shape, "rm x")
