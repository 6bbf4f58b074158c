"""Nobody is passed over for a text that hides which file it reads, or which key it shows."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules

NAMES_A_FILE_IN_PARTS = [
    'x=; cat ".e${x}nv"',
    "cat .e$(true)nv",
    'git show "HEAD:.e$x"',
    "cat .e$((1-1))nv",
    'f=nv; cat "./.e$f"',
    'f=.env; cat "./$f"',
    "f=.env; head -1 ./$f",
    'f=.env; wc "$f"',
    'for f in a .env; do head "./$f"; done',
    'for f in .e*; do head "./$f"; done',
    "find . -name '.e*' -exec cat {} +",
    "find . -name '.e*' | xargs cat",
]

TAKES_NAMES_FROM_ELSEWHERE = [
    "cat $(printf .%s env)",
    'cat "$(echo LmVudgo= | base64 -d)"',
    "cat $(rev names)",
    "printf '.%s' env | xargs cat",
    "echo vne. | rev | xargs -I{} head {}",
    'f=--files0-from=.env; wc "$f"',
    "echo --files0-from=.env | xargs du",
    'awk \'BEGIN{ARGV[1]=".e" "nv"; ARGC=2} {print}\'',
    'yq -n \'strload(".e" + "nv")\'',
]

SHOWS_A_KEY = [
    "x=$API_TOKEN; echo $x",
    'x="${API_TOKEN}"; echo "$x"',
    "for x in $API_TOKEN; do echo $x; done",
    'git log "--format=$API_TOKEN"',
    "printenv GH_PAT",
    "echo $PGPASS",
    "echo $DATABASE_URL",
    "git config get github.token",
    "git config get http.extraheader",
    "cat /tmp/krb5cc_1000",
]

# zsh ties these to the search path, to its functions and to its options.
CHANGES_WHAT_NAMES_MEAN = [
    "path=./bin; ls",
    "path=(./bin); ls",
    "for path in ./bin; do ls; done",
    "while read -r path; do ls; done < names",
    "fpath=x; ls",
    "aliases=x; ls",
    "chpwd_functions=x; cd src",
]


@pytest.mark.parametrize(
    "command",
    [
        *NAMES_A_FILE_IN_PARTS,
        *TAKES_NAMES_FROM_ELSEWHERE,
        *SHOWS_A_KEY,
        *CHANGES_WHAT_NAMES_MEAN,
    ],
)
def test_what_hides_what_it_reads_or_runs_is_asked(command: str) -> None:
    assert judge_command(command).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        'for f in *.py; do wc -l "$f"; done',
        "find . -type f -not -name '.*' -exec grep -n main {} +",
        "git ls-files | tr '\\n' '\\0' | xargs -0 wc -l",
        "find . -name '*.go' | xargs cat",
        "diff <(printf 'a\\n') b",
        "printf 'a b' | xargs echo",
        "ls | xargs wc -l",
        "echo $OLDPWD",
        'while read -r file_path; do wc -l "$file_path"; done < names',
        "n=.github; ls $n",
        "git config get user.name",
        "yq '.payload' a.yaml",
        "awk '{print $2}' a.txt",
    ],
)
def test_their_open_neighbours_are_still_allowed(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "allow", rules(found)
