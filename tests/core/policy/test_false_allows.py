"""What looks like reading and is not: nobody may be passed over for any of these."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import judge_command, judge_tool

# An option where a value belongs is the value, and does not say what the command does.
TAKEN_FOR_A_VALUE = [
    "git branch --format -l new",
    "git branch --sort --list new",
    "git config -f --get a.b value",
    "black --exclude --check a.py",
    "gh api --raw-field -X=GET repos/o/r/issues",
    "packer validate -evaluate-datasources false x.pkr.hcl",
]

# In front of the sub-command an option may take the sub-command for its value, or not take it.
IN_FRONT = [
    "pnpm -w add list",
    "npm --filter install ls",
    "poetry -n add show",
    "gh --public status repo create",
    "kubectl -q top exec sh",
    "docker compose -q ps build",
    "docker-compose -q ps build",
    "xargs --max-lines rm cat",
    "git --git-dir=./x describe --dirty",
]

# Variables that programs obey, set without an assignment of their own.
SET_IN_PASSING = [
    "for PATH in ./x; do ls; done",
    "for HOME in x; do git status; done",
    "echo $((HOME=5)); git status",
    ": $((PATH++)); ls",
    "echo ${PATH:=x}",
    "ls {HOME}>/dev/null; git status",
    "printf 'a%n' HOME; git status",
    "printf '%1$ln' HOME",
]

WRITES_OR_RUNS = [
    "zstdcat -o out a.zst",
    "xz -l -d a.xz",
    "bzip2 -td a.bz2",
    "sdiff -Wo out a b",
    "codespell -dw src",
    "ruff check --config 'fix=true' .",
    "rustc --print=cfg=out",
    "mdls -plist out a",
    "cdk list",
    "brew bundle list --file=Brewfile",
    "brew info ./x.rb",
    "aws iot-data get-thing-shadow --thing-name x out",
    "jar tf @options",
]

PRINTS_SECRETS = [
    'cat <<< "$GITHUB_TOKEN"',
    "cat <<EOF\n$DATABASE_URL\nEOF",
    'basename "$GITHUB_TOKEN"',
    "for x in AWS_SECRET_ACCESS_KEY; do echo ${!x}; done",
    "jq -n '$ ENV'",
    'yq -n \'eval("e" + "nv(X)")\'',
    "ps -o pid,environ",
    "docker top web auxe",
    "git config github.token",
    "gh config get oauth_token",
    "aws cognito-idp describe-user-pool-client --client-id x",
    "auth0 apps show x -r",
    "grep -ra TOKEN /proc/self/",
    "cat /proc/self/task/1/environ",
]

SENDS_OR_LOOKS_ELSEWHERE = [
    "finger data@host.example",
    "xmllint --html http://host.example/?x",
    "helm show chart https://host.example/x",
    "npm view git+https://host.example/x",
    "crane digest host.example/x",
    "cat /proc/self/root/srv/a",
    "head -c 9 /dev/sda1",
    "git -C /srv/app show HEAD:a",
    "cd /$X && cat notes",
    "pushd src >/dev/null; popd; cat ../notes",
]


@pytest.mark.parametrize(
    "command",
    [
        *TAKEN_FOR_A_VALUE,
        *IN_FRONT,
        *SET_IN_PASSING,
        *WRITES_OR_RUNS,
        *PRINTS_SECRETS,
        *SENDS_OR_LOOKS_ELSEWHERE,
    ],
)
def test_what_does_more_than_read_is_asked(command: str) -> None:
    assert judge_command(command).decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "docker compose -p x ps",
        "docker compose logs -f web",
        "kubectl -n x get pods",
        "git --no-pager log -5",
        "systemctl --user status x",
        "journalctl -n -u ssh",
        "xz -dc a.xz | head",
        "gunzip -t a.gz",
        'for f in *.py; do wc -l "$f"; done',
        "echo $((1 + 2))",
        "echo $((n == 2))",
        "printf '%5.1f%%\\n' 3",
        "cat <<< text",
        "cat /proc/cpuinfo",
        "helm -n x list",
    ],
)
def test_their_harmless_neighbours_are_still_allowed(command: str) -> None:
    assert judge_command(command).decision == "allow"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "file:///etc/passwd"}),
        ("Read", {"file_path": "https://host.example/x"}),
        ("Read", {"file": "/etc/passwd"}),
        ("Read", {"uri": "file:///etc/passwd"}),
        ("Read", {"file_path": ["/etc/passwd"]}),
        ("Read", {"file_path": " /etc/passwd"}),
        ("Grep", {"pattern": "x", "glob": "*.pem"}),
        ("Grep", {"pattern": "x", "glob": "../**"}),
        ("Grep", {"pattern": "x", "include": "/etc/*"}),
        ("Grep", {"pattern": "x", "include": "**/.env*"}),
        ("Grep", {"pattern": "x", "root": "/etc"}),
        ("Glob", {"pattern": "{/etc,/home}/**"}),
        ("Glob", {"pattern": "$HOME/**"}),
        ("list_dir", {"dir": "/etc"}),
        ("LS", {"relative_workspace_path": "../.."}),
    ],
)
def test_a_reading_tool_that_looks_elsewhere_is_asked_by_whatever_field(
    tool: str, given: dict[str, Any]
) -> None:
    assert judge_tool(tool, "read", given).decision != "allow"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Grep", {"pattern": "/api/", "glob": "*.py"}),
        ("Grep", {"pattern": "x", "glob": "*.{ts,tsx}", "path": "src"}),
        ("Glob", {"pattern": "src/**/*.{js,ts}"}),
        ("Read", {"file_path": "src/a.py", "offset": 5}),
        ("LS", {}),
    ],
)
def test_a_reading_tool_inside_is_allowed(tool: str, given: dict[str, Any]) -> None:
    assert judge_tool(tool, "read", given).decision == "allow"
