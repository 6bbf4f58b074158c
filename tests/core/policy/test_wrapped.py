"""A command is judged behind every program that runs it, and where a call starts it elsewhere."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules

WRAPPED = [
    "fnm exec -- rm -rf ~",
    "fnm exec --using 18 rm -rf ~",
    "nvm exec 18 rm -rf ~",
    "nvm exec rm -rf ~",
    "pnpm x rm -rf ~",
    "bun x rm -rf ~",
    "npm x -- rm -rf ~",
    "yarn dlx rm -rf ~",
    "corepack rm -rf ~",
    "pixi run rm -rf ~",
    "pixi run -e dev rm -rf ~",
    "nix develop -c rm -rf ~",
    "nix shell nixpkgs#x --command rm -rf ~",
    "guix shell x -- rm -rf ~",
    "dotenvx run -- rm -rf ~",
    "dotenv -e .env.x -- rm -rf ~",
    "dotenv run -- rm -rf ~",
    "volta run --node 18 rm -rf ~",
    "env -S 'bash -c' 'rm -rf ~'",
    "env -S'bash -c' 'rm -rf ~'",
    "env --split-string='bash -c' 'rm -rf ~'",
    "env -S '-i bash -c' 'rm -rf ~'",
    "mise x node@20 -- rm -rf ~",
    "mise exec -c 'rm -rf ~'",
    "rtx exec -- rm -rf ~",
    "pipx run rm -rf ~",
    "micromamba run -n x rm -rf ~",
    "cross-env A=1 rm -rf ~",
    "npx cross-env A=1 B=2 rm -rf ~",
    "cross-env-shell 'ls && rm -rf ~'",
    "concurrently -n a,b 'ls' 'rm -rf ~'",
    "hyperfine -w 3 'ls' 'rm -rf ~'",
    "nodemon --exec 'rm -rf ~'",
    "watchexec -e py -- rm -rf ~",
    "infisical run --env=dev -- rm -rf ~",
    "devbox run -- rm -rf ~",
    "foreman run rm -rf ~",
    "env-cmd -f x rm -rf ~",
    "onchange 'src/**' -- rm -rf ~",
    "chokidar 'src/**' -c 'rm -rf ~'",
    "toolbox run -c box rm -rf ~",
    "distrobox enter box -- rm -rf ~",
    "flatpak-spawn --host rm -rf ~",
    "limactl shell vm rm -rf ~",
    "multipass exec vm -- rm -rf ~",
    "vagrant ssh -c 'rm -rf ~'",
    "wsl -d Debian -e rm -rf ~",
    "gcloud compute ssh vm --command='rm -rf ~'",
    "npx --yes rimraf ~",
    "watchexec -e py 'rm -rf ~'",
    "devbox run 'ls && rm -rf ~'",
    "ssh -p 22 host -- rm -rf ~",
]


@pytest.mark.parametrize("command", WRAPPED)
def test_what_a_wrapper_runs_is_judged(command: str) -> None:
    assert "files.delete-everything" in rules(judge_command(command))


@pytest.mark.parametrize("wrapper", ["fnm exec", "nvm exec", "mise exec", "asdf exec", "mise x"])
def test_behind_a_sign_starts_one_command_only(wrapper: str) -> None:
    words = [segment.words for segment in judge_command(f"{wrapper} -- ls -la x").segments]
    assert words == [(*wrapper.split(), "--", "ls", "-la", "x"), ("ls", "-la", "x")]


@pytest.mark.parametrize("wrapper", ["fnm exec --", "nvm exec 18", "pyenv exec", "asdf exec"])
def test_choosing_a_version_is_as_harmless_as_what_runs(wrapper: str) -> None:
    assert judge_command(f"{wrapper} ls").decision == "allow"
    assert judge_command(f"{wrapper} frob").decision == "ask"


def test_a_package_called_as_a_wrapper_is_no_wrapper() -> None:
    found = judge_command("npm install x foo")
    assert "policy.no-rule" not in rules(found)


ELSEWHERE = [
    "strace -p 1",
    "gdb -p 1",
    "gdb ./x 12",
    "lldb -p 1",
    "prlimit --pid 1 --nofile=1",
    "dbus-send --session --dest=a.b /x c.D",
    "busctl --user call org.freedesktop.systemd1 /x y StartTransientUnit",
    "gdbus call --session --dest a.b",
    "xdg-open x.desktop",
    "gtk-launch x",
    "systemd-run --user ls",
    "at now",
    "batch",
    "crontab x",
    "ssh localhost ls",
    "tmux run-shell -b ./x",
]


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_starts_or_takes_a_process_elsewhere_is_held(command: str) -> None:
    assert judge_command(command).risk in ("high", "critical")
