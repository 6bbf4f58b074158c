from __future__ import annotations

from pathlib import Path

from watchgate.service.runners.spawn import ALLOWED, hook_environment

CORES = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/u",
    "LANG": "C.UTF-8",
    "LC_TIME": "de_DE.UTF-8",
    "USER": "u",
    "ANTHROPIC_API_KEY": "secret",
    "AWS_SESSION_TOKEN": "secret",
    "SSH_AUTH_SOCK": "/run/agent",
    "LD_PRELOAD": "/tmp/x.so",
    "PYTHONPATH": "/tmp",
    "WATCHGATE_RUNTIME_DIR": "/run/w",
}


def test_sa_b7_only_a_short_list_of_the_cores_environment_is_passed_on() -> None:
    assert hook_environment(CORES) == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/u",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE.UTF-8",
        "USER": "u",
    }


def test_the_configuration_adds_and_replaces() -> None:
    env = hook_environment(CORES, {"LANG": "C", "TOKEN": "given"})
    assert (env["LANG"], env["TOKEN"]) == ("C", "given")


def test_a_path_finds_nothing_in_the_sessions_folder() -> None:
    env = hook_environment({"PATH": ".:/usr/bin::bin:./node_modules/.bin:/bin"})
    assert env["PATH"] == "/usr/bin:/bin"


def test_there_is_always_a_path() -> None:
    assert "/bin" in hook_environment({})["PATH"].split(":")


def test_the_documentation_names_each_of_them() -> None:
    text = (Path(__file__).parents[3] / "docs" / "handlers.md").read_text()
    assert {name for name in ALLOWED if f"`{name}`" not in text} == set()
