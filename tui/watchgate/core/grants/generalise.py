"""Generalises a command to its program and its subcommand."""

from __future__ import annotations

import re
from typing import Final

_DEPTH: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            *("black", "cp", "eslint", "gofmt", "isort", "jest", "mkdir", "mypy", "prettier"),
            *("pytest", "rustfmt", "touch", "tox", "tsc", "vitest"),
        ),
        0,
    ),
    **dict.fromkeys(
        (
            *("aws", "az", "gcloud", "gh", "glab", "kubectl", "git bisect", "git remote"),
            *("git stash", "git submodule", "git worktree", "bun run", "cargo run", "go mod"),
            *("docker compose", "docker container", "docker image", "docker volume", "npm run"),
            *("pnpm run", "poetry run", "uv pip", "yarn run", "yarn workspace"),
        ),
        2,
    ),
}
"""Number of words after the program that say what it does, by the words so far; else one."""

_INTERPRETERS: Final = re.compile(r"(?:python|node|ruby|perl|php|bun|deno|bash|sh|zsh)[0-9.]*")
"""Programs that run the word behind them."""

_EXACT: Final = frozenset(
    (
        *(".", "awk", "cd", "chmod", "chown", "chroot", "curl", "dd", "doas", "docker exec"),
        *("docker run", "env", "eval", "exec", "find", "ftp", "kill", "kubectl exec", "ln"),
        *("make", "mv", "mysql", "nc", "npx", "parallel", "pkill", "pnpx", "popd", "psql"),
        *("pushd", "rm"),
        *("rmdir", "rsync", "scp", "sed", "sftp", "source", "sqlite3", "ssh", "su", "sudo"),
        *("tar", "tee", "truncate", "unlink", "unzip", "uvx", "watch", "wget", "xargs"),
    )
)
"""Programs whose arguments matter: other programs, code, machines, or files that are lost."""

_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:_+-]{0,39}")


def generalised(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Returns a command's words that say what it does, and whether further arguments may follow."""
    head, name = 1, words[0].rsplit("/", 1)[-1]
    if _INTERPRETERS.fullmatch(name):
        head = _script(words)
        name = words[head - 1].rsplit("/", 1)[-1]
    depth, taken = _DEPTH.get(name, 1), 0
    if head == 0:
        return words, False
    while taken < depth and name not in _EXACT:
        word = words[head] if head < len(words) else "-"
        if word.startswith("-"):
            return words, False  # which of the words behind it is the subcommand, nobody knows
        if not _SUBCOMMAND.fullmatch(word):
            break
        head, taken, name = head + 1, taken + 1, f"{name} {word}"
        depth = max(depth, _DEPTH.get(name, 0))
    return (words, False) if name in _EXACT else (words[:head], True)


def _script(words: tuple[str, ...]) -> int:
    """Returns the number of words that name what an interpreter runs.

    0 where that is code, input or unknown.
    """
    match words[1:]:
        case ("-m", module, *_) if not module.startswith("-"):
            return 3
        case (script, *_) if not script.startswith("-"):
            return 2
    return 0
