"""An option excuses a command only where it stands as an option of that very program."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules

IS_A_VALUE = [
    "git clean -fdx -e -n",
    "git push --repo --dry-run origin main",
    "kubectl delete ns prod -n --help",
    "helm uninstall web --description --dry-run",
    "rclone delete r:b --include --dry-run",
    "rsync -a --delete a/ b/ --exclude -n",
    "rsync -a --delete a/ b/ --exclude --dry-run",
    "vault kv delete -namespace --help secret/x",
    "vault kv delete secret/x -namespace --help",
    "aws s3 rb s3://x --endpoint-url --dryrun",
    "git clean -fdxe -n",
    "git clean -fen",
    "git push -f -on origin main",
    "somecli delete all --name --dry-run",
]

IS_ANOTHER_PROGRAMS = [
    "ssh prod ./wipe.sh -V",
    "ssh -p 22 prod ./wipe.sh --help",
    "ssh -o -V prod",
    'node -e \'require("fs").rmSync("a", {recursive: true})\' x --version',
    "sudo ./wipe.sh --help",
    "git clean -fdx -- -n",
    "kubectl delete ns prod -- --help",
]

TAKEN_BACK = [
    "git clean -n --no-dry-run -fd",
    "git push --force --dry-run --no-dry-run",
    "git push -f -n --no-dry",
    "git clean --dry-run -fd --no-dry-run",
    "kubectl delete pod x --dry-run=client --dry-run=none",
    "helm uninstall web --dry-run --dry-run=false",
]

MAY_BE_ANYTHING = ["git clean -fdx $x -n", "kubectl delete ns prod $x --help"]


@pytest.mark.parametrize(
    "command", [*IS_A_VALUE, *IS_ANOTHER_PROGRAMS, *TAKEN_BACK, *MAY_BE_ANYTHING]
)
def test_a_word_that_is_no_option_of_the_program_excuses_nothing(command: str) -> None:
    assert judge_command(command).risk in ("high", "critical")


@pytest.mark.parametrize(
    "command",
    [
        "git clean -dn",
        "git clean -nd",
        "git clean -d -n",
        "git clean -fdxn",
        "git clean -e x -n",
        "git push --force --dry-run",
        "git push -fn origin main",
        "git -C sub push --force -n",
        "make -n deploy",
        "make -C sub -n deploy",
        "make --just-print release",
        "kubectl delete pod x -n prod --dry-run=client",
        "helm uninstall web --wait --dry-run",
        "rclone delete r:b --include x --dry-run",
        "aws s3 rm s3://x --recursive --dryrun",
        "npm publish --access public --dry-run",
        "ssh -V",
        "git clean --no-dry-run -n",
        "git clean -n --no-quiet",
    ],
)
def test_a_dry_run_is_not_held(command: str) -> None:
    assert judge_command(command).risk in ("low", "medium")


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("docker ps --all", "containers.escape"),
        ("docker compose ps --all", "containers.escape"),
        ("git switch -cfeature", "git.discard"),
        ("git checkout -bfeature", "git.discard"),
        ("git push -o+audit origin topic", "git.force-push"),
    ],
)
def test_no_rule_is_switched_on_by_what_the_program_reads_otherwise(
    command: str, rule: str
) -> None:
    assert rule not in rules(judge_command(command))


@pytest.mark.parametrize(
    "command",
    [
        "git reset --har",
        "rm --recursiv --forc src",
        "git push --forc",
        "git push -uf",
        "git clean -df",
    ],
)
def test_shortened_names_and_clusters_are_still_found(command: str) -> None:
    assert judge_command(command).risk in ("high", "critical")
