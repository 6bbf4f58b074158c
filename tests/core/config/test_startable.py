"""A command that no process can be started with is refused when the configuration is read."""

from __future__ import annotations

import pytest

from watchgate.core.config.config import ConfigError, load

HANDLER = 'profile = "guard"\n[[handler]]\nid = "guard"\non = ["tool.pre"]\n'
COMMAND = 'command = ["./guard.sh"]\n'


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ('command = [""]', "command names no program: its first text is empty"),
        ('command = ["a\\u0000b"]', "command[0] holds a NUL character"),
        ('command = ["a", "b", "\\u0000"]', "command[2] holds a NUL character"),
        (COMMAND + 'env = { "" = "1" }', "env has a variable without a name"),
        (COMMAND + 'env = { "A=B" = "1" }', "env names 'A=B'"),
        (COMMAND + 'env = { "A\\u0000" = "1" }', "env names 'A\\x00'"),
        (COMMAND + 'env = { A = "1\\u0000" }', "env.A holds a NUL character"),
        (COMMAND + 'cwd = "/srv\\u0000"', "cwd holds a NUL character"),
    ],
)
def test_what_cannot_be_started_is_refused_at_its_line(keys: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(HANDLER + keys, "config.toml")
    message = str(refused.value)
    assert message.startswith(f"config.toml:{5 + keys.count(chr(10))}: handler 'guard': ")
    assert says in message


def test_empty_arguments_and_values_are_taken() -> None:
    text = HANDLER + 'command = ["a", "", "="]\nenv = { A = "", B = "=" }'
    (config,) = load(text, "config.toml").handler
    assert (config.command, config.env) == (("a", "", "="), {"A": "", "B": "="})


def test_cx_30_a_program_that_is_never_heard_is_no_gate() -> None:
    text = HANDLER + COMMAND + 'protocol = "codex-notify"\n'
    with pytest.raises(ConfigError, match=r'never heard.*write role = "observer"'):
        load(text, "config.toml")
    with pytest.raises(ConfigError, match=r"config\.toml:7: "):
        load(text + 'role = "gate"\n', "config.toml")
    assert load(text + 'role = "observer"\n', "config.toml").handler[0].role == "observer"
