"""What can print a secret is no allow, whichever tool reads it and however its name is made."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, judge_tool, rules

NAMES_MADE_AT_RUN_TIME = [
    "cat $(ls -A | head -3)",
    'cat "$(ls -a | grep env)"',
    "cat $(fd -H env)",
    "cat $(rg --files --hidden)",
    'head $(find . -name ".e*")',
    "ls -A | xargs cat",
    "find . -type f | xargs cat",
    "find . -name '*' | xargs cat",
    "find . -maxdepth 1 -type f -exec cat {} +",
    "git ls-files -o | xargs cat",
    'rg -uuu "" .',
    "rg --hidden --no-ignore KEY",
    "git grep --no-index KEY",
    'grep -rn "" .',
    "x=$OPENAI_KEY; echo $x",
]

SETTINGS_IN_FULL = [
    "helm get manifest web",
    "helm get values web",
    "docker inspect web",
    "docker inspect -f '{{.Config.Env}}' web",
    "aws lambda get-function-configuration --function-name x",
    "git config --list",
    "git config --get-regexp http",
]

VARIABLES = [
    "echo $OPENAI_KEY",
    "echo $STRIPE_SK",
    "echo $JWT",
    "echo $COOKIE",
    "echo $SLACK_WEBHOOK_URL",
    "echo ${ENCRYPTION_KEY}",
    "echo $SIGNING_KEY",
    "echo $MASTER_KEY",
    "printenv OPENAI_KEY",
    "printenv db_password",
    "echo ${api_token:-none}",
    "echo ${!NAME}",
    'echo "x: $A_PAT"',
    "base64 <<< x $REDIS_URL",
]

FILES = [
    "~/.claude/.credentials.json",
    "~/.claude.json",
    "~/.gemini/oauth_creds.json",
    "~/.qwen/oauth_creds.json",
    "~/.config/github-copilot/apps.json",
    "~/.codex/auth.json",
    "~/.local/share/opencode/auth.json",
    "~/.cache/huggingface/token",
    "~/.kaggle/kaggle.json",
    "~/.terraform.d/credentials.tfrc.json",
    "~/.config/stripe/config.toml",
    "~/.config/ngrok/ngrok.yml",
    "~/.config/hcloud/cli.toml",
    "~/.config/scw/config.yaml",
    "~/.rclone.conf",
    "~/.pip/pip.conf",
    "~/.config/pypoetry/auth.toml",
    ".dev.vars",
    "gcp-key.json",
    "rootkey.csv",
    "token.txt",
    "deploy_key",
    ".env1",
]


@pytest.mark.parametrize("command", [*NAMES_MADE_AT_RUN_TIME, *SETTINGS_IN_FULL])
def test_what_may_show_a_secret_is_asked(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "ask"
    assert "policy.no-rule" not in rules(found)


@pytest.mark.parametrize("command", VARIABLES)
def test_a_variable_that_names_a_key_is_held(command: str) -> None:
    assert judge_command(command).risk == "high"


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_holds_a_token_is_a_secret_for_every_tool(path: str) -> None:
    assert judge_command(f"cat {path}").risk in ("high", "critical")
    absolute = path.replace("~", "/home/ada")
    found = judge_tool("Read", "read", {"file_path": absolute})
    assert found.risk in ("high", "critical")
    found = judge_tool("Grep", "read", {"path": absolute, "pattern": "x"})
    assert found.risk in ("high", "critical")


def test_a_wildcard_that_may_become_one_and_a_key_in_the_home_are_held() -> None:
    assert judge_command("cat .env?").risk == "high"
    assert judge_command("cat ~/.cloudflared/cert.pem").risk == "high"


@pytest.mark.parametrize(
    "command",
    [
        "cat $(git ls-files)",
        "ls -a | grep env",
        "ls -la | head -5",
        "find . -name '*.py' | xargs cat",
        "find . -type f -name '*.go' -exec cat {} +",
        "rg -n foo src",
        "rg --hidden -l foo",
        "grep -rn 'to do' src",
        "docker inspect -f '{{.State.Status}}' web",
        "git config --get user.name",
        "echo $HOME $PATH",
        "printenv NODE_ENV",
        "cat cert.pem",
    ],
)
def test_their_harmless_neighbours_are_still_allowed(command: str) -> None:
    assert judge_command(command).decision == "allow"
