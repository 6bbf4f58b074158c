"""Loops and pipes whose words are known: what they fill in is no option, and nothing else is."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command


@pytest.mark.parametrize(
    "command",
    [
        "for c in $(docker ps -q); do docker inspect -f '{{.Name}}' \"$c\"; done",
        "for p in $(kubectl get pods -o name); do kubectl logs $p --tail=3; done",
        "for r in us-east-1 eu-west-1; do aws ec2 describe-instances --region $r; done",
        'docker ps --format "{{.Names}}" | while read -r n; do docker logs "$n"; done',
        "docker ps -q | head -3 | xargs -n1 docker logs --tail 5",
        "docker ps -q | xargs -I{} sh -c 'echo {}; docker logs {}'",
        "find data -name '*.json' -exec jq -e . {} \\;",
        "find . -name '*.json' -print0 | xargs -0 -n1 jq -e .",
        'for f in logs/*.log; do grep -c ERROR "$f"; done',
    ],
)
def test_what_only_reads_is_allowed_in_a_loop(command: str) -> None:
    assert judge_command(command).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "for c in $(cat names); do docker logs $c; done",
        "for c in -x a; do kubectl logs $c; done",
        "for c in $(docker ps -q); do c=$(cat x); docker logs $c; done",
        "for c in $(docker ps -q); do read c; docker logs $c; done",
        'for c in $(docker ps -q); do echo "${c:=-x}"; docker logs $c; done',
        'for c in $(docker ps -q); do printf -v c %s -x; docker logs "$c"; done',
        "docker ps -q | while read -r n; do :; done; while read -r n; do docker top $n; done < a",
        "docker ps --format '{{.Command}}' | xargs -I{} sh -c 'echo {}'",
        "git ls-files | xargs -I{} sh -c 'wc -l {}'",
        "find . -print0 | xargs -0 -I{} sh -c 'wc -l {}'",
        "find . -exec sh -c 'wc -l {}' \\;",
        "find -execdir jq . {} \\;",
        "find . | xargs jq .",
        'for f in *.json; do jq . "$f"; done',
        "cat x | xargs docker logs",
        "kubectl get secrets -o name | xargs kubectl get -o yaml",
    ],
)
def test_what_may_become_an_option_or_a_command_is_not(command: str) -> None:
    assert judge_command(command).decision != "allow"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ('for f in .e*; do cat "$f"; done', "secrets.touch"),
        ('for d in /etc/*; do rm -rf "$d"; done', "files.delete-everything"),
        ("docker ps -aq | xargs docker rm -f", "containers.destroy"),
        ("psql app <<'E'\n\\! rm -rf x\nE", "sql.program"),
    ],
)
def test_what_is_grave_stays_so(command: str, rule: str) -> None:
    assert rule in {finding.rule for finding in judge_command(command).findings}


def test_a_document_may_begin_with_a_backslash() -> None:
    found = judge_command("psql app <<'E'\n\\timing on\nselect 1;\nE")

    assert not found.opaque
    assert {finding.rule for finding in found.findings} == {"sql.read"}


@pytest.mark.parametrize(
    ("command", "held"),
    [
        ("jq '.env' a.json", False),
        ("jq . .env", True),
        ("jq -f .env a.json", True),
        ("jq .env -f", True),
        ("jq --rawfile x .env -n '$x'", True),
        ("yq .env a.yaml", True),
    ],
)
def test_the_program_of_a_query_is_no_file(command: str, held: bool) -> None:
    assert (judge_command(command).risk == "high") == held


def test_a_container_has_files_of_its_own() -> None:
    assert judge_command("docker exec web cat /app/a.json").risk == "medium"
    assert judge_command("docker exec web sh -c 'cat /app/a.json | head'").risk == "medium"
    assert judge_command("docker exec web cat /app/.env").risk == "high"
    assert judge_command("docker exec web rm -rf /app").risk == "critical"
    assert judge_command("cat /app/a.json").risk == "high"
