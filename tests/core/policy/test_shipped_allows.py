"""The shipped allow rules: what only reads is allowed, and nothing slips in beside it."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.inputs.rule_file import CommandMatch, RuleData
from watchgate.core.policy.judging.rule_examples import matches_example, misses_example
from watchgate.service.policies.policy_files import shipped, shipped_files

_ALLOWS = [
    rule for loaded in shipped_files() for rule in loaded.file.rule if rule.decision == "allow"
]
_IN_FORCE = {rule.id: rule for rule in shipped().rules}
every_allow = pytest.mark.parametrize("rule", _ALLOWS, ids=lambda rule: rule.id)

# Programs that start what they are told to, whatever else they can do.
_STARTERS = frozenset(
    """bash sh zsh env sudo xargs ssh python python3 node perl ruby php make npx uvx watch parallel
    vim vi nvim emacs less more man tee dd docker-run kubectl-exec script tmux screen""".split()
)

ORDINARY = [
    "ls -la",
    "ls && pwd",
    "cat src/a.py | head -40",
    "nl -nrz Cargo.toml",
    "rg Cargo.toml -n",
    "grep -R 'Cargo.toml' -n .",
    "sed -n 1,5p file.txt",
    "find . -name file.txt",
    "find . -type f -name '*.py' | wc -l",
    "git status && git diff --stat && git log --oneline -5",
    "cd src && ls",
    "echo hi ; ls | wc -l",
    "git branch --show-current",
    "gh pr view 12 --json title,body",
    "gh run view 9 --log-failed | tail -50",
    "kubectl get pods -A | grep web",
    "docker ps --format '{{.Names}}'",
    "npm ls --depth=0",
    "pip show requests 2>/dev/null",
    "LC_ALL=C sort a.txt | uniq -c",
    "bash -lc 'git status'",
    "timeout 5 git log -1",
    'for f in *.py; do wc -l "$f"; done',
    "test -f a && cat a || echo none",
    "jq '.scripts' package.json",
    "uname -a; whoami; date +%F",
    "python3 --version",
    "aws sts get-caller-identity",
    "ps aux | grep node",
]

NOT_READING = [
    "ls > files.txt",
    "git log --output=x",
    "git diff > a.patch",
    "cat a >> b",
    "LD_PRELOAD=./x.so ls",
    "PATH=. ls",
    "GIT_SSH_COMMAND=./x git ls-remote origin",
    "PAGER=./x git log",
    "git -c core.pager=./x log",
    "git -c alias.log='!x' log",
    "git --exec-path=. log",
    "git grep -O./x main",
    "git diff --ext-diff",
    "git log $(./x)",
    "git log `./x`",
    'git log --format=%H "$(rm a)"',
    "cat <(./x)",
    "ls; ./x",
    "ls | sh",
    "./ls",
    "bin/git status",
    "/tmp/git status",
    "rg --pre ./x y",
    "rg --pr\\e ./x y",
    'rg "--pre=./x" y',
    "find . \\-delete",
    "find . -del{ete,x}",
    "find . $'-delete'",
    "find . -exec ./x {} +",
    "find . $flags",
    "sed -n '1e id'",
    "sed 's/a/id/e' a",
    "sed -i s/a/b/ a",
    "awk 'BEGIN{system(\"id\")}'",
    "awk '{print | \"sh\"}' a",
    "sort -o a b",
    "sort --compress-program=./x a",
    "tar -tf a --to-command=./x",
    "tar -tf a.tar -I ./x",
    "tar -tf host:a.tar",
    "less a",
    "less +!id a",
    "man -P ./x ls",
    "fzf --preview ./x",
    "fzf --bind 'enter:execute(./x)'",
    "jq -n env",
    "jq '$ENV' a",
    "printf -v PATH x",
    "test -v 'a[$(id)]'",
    "[[ -v a[$(./x)] ]]",
    "echo $((a[$(./x)]))",
    "cat < /dev/tcp/h/1",
    "cat /etc/passwd",
    "cat ../other/notes",
    "cat ~/.bash_history",
    "base64 ~/notes",
    "sed '' /srv/app/config",
    "find /srv -exec cat {} +",
    "git diff /dev/null /srv/config",
    "ps auxe",
    "hostname x",
    "date -s tomorrow",
    "ip link s eth0 up",
    "yarn prefix",
    "yarn version",
    "uv version 2.0.0",
    "gh codespace ports visibility 80:public",
    "gh auth status -t",
    "gh api graphql -f query=x",
    "kubectl get secrets",
    "kubectl get $kind -o yaml",
    "kubectl --kubeconfig=x get pods",
    "docker -H tcp://x ps",
    "aws secretsmanager get-secret-value --secret-id x",
    "az vm delete --name list",
    "gcloud compute instances delete list",
    "auth0 apps delete list",
    "vercel remove list",
    "terraform output -json",
    "npm test",
    "pytest",
    "cargo check",
    "make -n",
    "curl https://example.org",
    "git fetch",
    "env",
    "xargs rg x",
    "python -c 'print(1)'",
]


@every_allow
def test_an_allow_covers_what_its_examples_say(rule: RuleData) -> None:
    in_force = _IN_FORCE[rule.id]
    assert [example for example in rule.match if not matches_example(in_force, example)] == []


@every_allow
def test_an_allow_does_not_cover_its_counterexamples(rule: RuleData) -> None:
    in_force = _IN_FORCE[rule.id]
    assert [example for example in rule.not_match if not misses_example(in_force, example)] == []


def test_every_allow_has_a_reason_and_examples_on_both_sides() -> None:
    for rule in _ALLOWS:
        assert rule.reason, rule.id
        assert rule.match, rule.id
        assert rule.not_match, rule.id


def test_no_allow_names_a_program_that_starts_others() -> None:
    for rule in _IN_FORCE.values():
        if rule.decision == "allow":
            for shape in rule.shapes:
                named = shape.program.whole
                # Their version and help are all that may be asked of them.
                if rule.id not in ("allow.version", "allow.help"):
                    assert named.isdisjoint(_STARTERS), rule.id


def test_an_allow_with_any_flag_has_no_flag_that_it_must_fear() -> None:
    """Git and the searchers have options that start programs: each is open by sub-command only."""
    for rule in _ALLOWS:
        given = rule.command
        for shape in (given,) if isinstance(given, CommandMatch) else given:
            if shape.flags == "*" and rule.id.startswith(("allow.git", "allow.search")):
                assert shape.sub, rule.id


@pytest.mark.parametrize("command", ORDINARY)
def test_what_only_reads_is_allowed(command: str) -> None:
    found = judge_command(command)
    assert (found.decision, found.risk) == ("allow", "low"), found.findings


@pytest.mark.parametrize("command", NOT_READING)
def test_what_writes_runs_sends_or_reaches_out_is_never_allowed(command: str) -> None:
    assert judge_command(command).decision != "allow"
