"""Programs that run other commands, as tables: how to find the command behind each of them."""

from __future__ import annotations

import msgspec

from watchgate.core.policy.shell.commands import SHELLS, names
from watchgate.core.policy.shell.wrapper_options import WrapperOptions, options


class Prefix(msgspec.Struct, frozen=True):
    """A program that runs the rest of its words.

    `options` are its own, `operands` is how many words of its own come behind them. With one of
    the options `only_asks` it runs nothing. With none but the options `harmless` it does nothing
    beside running the command; None where it always does. `appends` says that it puts words of its
    input behind the command, or where one of the options `replaces` says. `may_lack`
    says that its own operands may be left out. Where the option `mark` is given, the command starts
    right behind it, and all before is its own; without it, its own words may stand anywhere.
    """

    options: WrapperOptions = WrapperOptions()
    operands: int = 0
    only_asks: frozenset[str] = frozenset()
    harmless: frozenset[str] | None = None
    appends: bool = False
    replaces: frozenset[str] = frozenset()
    may_lack: bool = False
    mark: str = ""


def _prefix(
    valued: str = "",
    flags: str = "",
    operands: int = 0,
    only_asks: str = "",
    harmless: str | None = None,
    mark: str = "",
) -> Prefix:
    """Describes a wrapper by words in lists, each separated by blanks.

    Args:
        valued: Its options that take a value.
        flags: Its options that take none.
        operands: How many operands stand before the command.
        only_asks: Options with which it runs nothing.
        harmless: Whether the wrapper itself does no harm.
        mark: A word that ends its operands.
    """
    return Prefix(
        options(valued, f"{flags} {only_asks}"),
        operands,
        names(only_asks),
        None if harmless is None else names(harmless),
        mark=mark,
    )


_SUDO = _prefix(
    "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role"
    " --type --close-from --command-timeout --other-user",
    "-n -E -H -i -s -k -S -b -A -P -B -N --non-interactive --preserve-env --set-home --login"
    " --shell --reset-timestamp --stdin --background --askpass --preserve-groups --bell",
    only_asks="-l -v -K -V --list --validate --remove-timestamp --version --help",
)

_STRACE = _prefix(
    "-e -o -p -s -u -E -a -I -O -S -P -b -X -U --trace --output --string-limit --trace-path"
    " --summary-sort-by --summary-columns --attach --user --env",
    "-f -c -C -t -T -r -v -y -q -i -k -x -w -n -z -Z -d -D -A --follow-forks --summary-only"
    " --summary --stack-traces --decode-fds --absolute-timestamps --syscall-times --failed-only"
    " --successful-only --no-abbrev --quiet",
)
_PERF_RECORD = _prefix(
    "-e -o -F -p -c -m -C -t -u -D -j -k --event --output --freq --call-graph --mmap-pages --count"
    " --cpu --pid --tid --delay --clockid --branch-filter",
    "-a -g -q -v -s -d -T -N -R -n -b -i -z --all-cpus --quiet --verbose --no-inherit --data",
)
_PERF_STAT = _prefix(
    "-e -o -r -p -C -I -x -M -t -D -G --event --output --repeat --pid --cpu --interval-print"
    " --field-separator --metrics --topdown-level --timeout --delay --pre --post --tid",
    "-a -d -v -n -B -A -j -i -S --all-cpus --detailed --verbose --null --big-num --json"
    " --no-inherit --append --topdown --all-user --all-kernel --no-big-num",
)
# Emulators of one program for another processor.
_QEMU = _prefix("-L -cpu -s -g -E -U -0 -r -B -R -p -D -d -plugin -seed", "-strace -version -help")
_PROCESSORS = "arm aarch64 riscv32 riscv64 mips mipsel mips64 ppc ppc64 ppc64le s390x i386 x86_64"
_MPI = _prefix(
    "-n -np -c -N -x -host -H -hostfile -machinefile -wdir -wd -genv -env --np --host --hostfile"
    " --machinefile --map-by --bind-to --mca -mca --timeout --output-filename",
    "-q -v --oversubscribe --allow-run-as-root --use-hwthread-cpus --report-bindings --tag-output",
)

PREFIXES: dict[str, Prefix] = {
    "sudo": _SUDO,
    "doas": _prefix("-u -C -a", "-n -s -L"),
    "pkexec": _prefix("--user", "--disable-internal-agent --keep-cwd"),
    "run0": _prefix("-u -g -D --user --group --chdir --setenv --unit --property"),
    "runuser": _prefix("-u -g -G -s -w --user --group --shell", "-l -m -p -f -P"),
    "gosu": _prefix(operands=1),
    "su-exec": _prefix(operands=1),
    "setpriv": _prefix("--reuid --regid --groups --securebits", "--init-groups --clear-groups"),
    "env": _prefix(
        "-u -C -S -a --unset --chdir --split-string --argv0",
        "-i -0 -v --ignore-environment --null --debug",
        harmless="",
    ),
    "nohup": _prefix(),
    "setsid": _prefix("", "-c -f -w --ctty --fork --wait"),
    "nice": _prefix(
        "-n --adjustment",
        "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9",
        harmless="-n --adjustment -0 -1 -2 -3 -4 -5 -6 -7 -8 -9",
    ),
    "ionice": _prefix("-c -n -p -P -u --class --classdata", "-t --ignore", harmless="-c -n -t"),
    "chrt": _prefix("-T -P -D", "-b -f -i -o -r -R", 1),
    "taskset": _prefix("", "-a -c -p --cpu-list", 1),
    "timeout": _prefix(
        "-s -k --signal --kill-after",
        "-v --foreground --preserve-status --verbose",
        1,
        harmless="-s -k -v --signal --kill-after --foreground --preserve-status --verbose",
    ),
    "gtimeout": _prefix("-s -k --signal --kill-after", "-v --foreground", 1, harmless="-s -k"),
    "time": _prefix(
        "-f -o --format --output",
        "-p -v -a -q --portability --verbose --append --quiet",
        harmless="-p -v --portability --verbose",
    ),
    "command": _prefix("", "-p", only_asks="-v -V", harmless="-p"),
    "builtin": _prefix(harmless=""),
    "exec": _prefix("-a", "-c -l"),
    "coproc": _prefix(),
    "noglob": _prefix(),
    "nocorrect": _prefix(),
    "xargs": msgspec.structs.replace(
        _prefix(
            "-I -n -P -L -d -E -s -a -R -S -J --max-args --max-procs --delimiter"
            " --arg-file --max-chars --process-slot-var",
            "-0 -r -t -x -o --null --no-run-if-empty --verbose --exit --open-tty --replace -i -e"
            " --max-lines"
            " -l --eof --show-limits",
            harmless="-0 -r -t -x -n -P -L -d -I -s -E --null --no-run-if-empty --verbose --exit"
            " --max-args --max-procs --max-lines --delimiter --max-chars",
        ),
        appends=True,
        replaces=names("-I -J -i --replace"),
    ),
    "parallel": _prefix("-j -I -n -N -L -d -S --jobs --joblog --colsep --delay --timeout"),
    "stdbuf": _prefix(
        "-i -o -e --input --output --error",
        harmless="-i -o -e --input --output --error",
    ),
    "chroot": _prefix("--userspec --groups", "--skip-chdir", 1),
    "flock": _prefix(
        "-w -E --timeout --wait --conflict-exit-code",
        "-s -x -e -u -n -o -F --shared --exclusive --nonblock --close --no-fork",
        1,
    ),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "strace": _STRACE,
    "ltrace": _prefix("-e -o -p -s -u -a -n -l -x -A -D -F", "-f -c -C -t -T -r -S -i -L -b"),
    "valgrind": _prefix(
        "",
        "-q -v -d --tool --leak-check --show-leak-kinds --errors-for-leak-kinds --error-exitcode"
        " --track-origins --num-callers --log-file --xml --xml-file --suppressions"
        " --gen-suppressions --callgrind-out-file --massif-out-file --cachegrind-out-file"
        " --dhat-out-file --trace-children --track-fds --read-var-info --show-reachable"
        " --undef-value-errors --malloc-fill --free-fill --fair-sched --quiet --verbose"
        " --time-stamp --main-stacksize --max-stackframe --time-unit --detailed-freq"
        " --max-snapshots --threshold --depth --stacks --pages-as-heap --dump-instr"
        " --collect-jumps --collect-atstart --instr-atstart --toggle-collect --cache-sim"
        " --branch-sim --separate-threads --history-level --free-is-write --keep-stacktraces"
        " --expensive-definedness-checks --leak-resolution --vgdb --vgdb-error --error-limit"
        " --demangle --child-silent-after-fork --exit-on-first-error --show-error-list"
        " --partial-loads-ok --freelist-vol --smc-check --default-suppressions",
    ),
    **dict.fromkeys(
        ("gdb", "gdb-multiarch", "rust-gdb", "arm-none-eabi-gdb"),
        _prefix(
            "-ex -x -iex -ix -p -d -cd --command --eval-command --pid --core --symbols --exec",
            "-batch --batch -q -quiet --quiet -nx -nh --nx --nh --args -args -silent",
            mark="--args",
        ),
    ),
    **dict.fromkeys(
        ("lldb", "rust-lldb"),
        _prefix(
            "-o -O -k -K -s -S -c -f -n -p -a --one-line --core --file --arch --source",
            "-b --batch -Q -X -x --no-lldbinit",
            mark="--",
        ),
    ),
    **{f"qemu-{name}{kind}": _QEMU for name in _PROCESSORS.split() for kind in ("", "-static")},
    **dict.fromkeys(("mpirun", "mpiexec", "mpiexec.hydra", "orterun"), _MPI),
    "heaptrack": _prefix("-o --output -p --pid", "-r --raw --record-only"),
    "catchsegv": _prefix(harmless=""),
    "multitime": _prefix("-n -s -I -i -o -r -b", "-q -v -f -l"),
    "arch": _prefix(
        "-e -d -arch", "-x86_64 -arm64 -arm64e -i386 -32 -64", harmless="-x86_64 -arm64 -arm64e"
    ),
    "watch": _prefix("-n -q -s --interval --equexit", "-b -c -d -e -g -p -t -w -x"),
    "unshare": _prefix("-S -G -R -w --root --wd --setuid --setgid", "-m -u -i -n -p -U -C -f -r"),
    "nsenter": _prefix("-t -S -G --target --setuid --setgid", "-a -m -u -i -n -p -U -C -r -w -F"),
    "systemd-run": _prefix(
        "-p -u -E -H -M --unit --property --setenv --uid --gid --slice --description",
        "-t -P -q -G -r -S -d --scope --user --system --pty --pipe --quiet --wait --collect",
    ),
    "systemd-inhibit": _prefix("--what --who --why --mode"),
    "caffeinate": _prefix("-t -w", "-d -i -m -s -u"),
    "unbuffer": _prefix("", "-p"),
    "dbus-run-session": _prefix("--config-file --dbus-daemon"),
    "dbus-launch": _prefix(),
    "fakeroot": _prefix("-l -s -i -b", "-u"),
    "firejail": _prefix(),
    "bwrap": _prefix(),
    "proot": _prefix("-r -b -w -q"),
    "torsocks": _prefix(),
    "torify": _prefix(),
    "proxychains": _prefix("-f", "-q"),
    "proxychains4": _prefix("-f", "-q"),
    "rlwrap": _prefix(),
    "setarch": _prefix("", "-R -3 -B -L -X", 1),
    "linux32": _prefix(),
    "linux64": _prefix(),
    "numactl": _prefix(
        "-N -m -C -i -p",
        "-l --cpunodebind --membind --physcpubind --interleave --preferred --localalloc",
    ),
    **dict.fromkeys(
        ("ncu", "compute-sanitizer"),
        _prefix(
            "-o -k -c -s --set --section --kernel-name --launch-count --launch-skip --metrics"
            " --export --tool --leak-check --error-exitcode --log-file",
            "-f --force-overwrite",
        ),
    ),
    "cpulimit": _prefix("-l --limit -p -e", "-z -i -f"),
    "softlimit": _prefix("-a -c -d -f -l -m -n -o -p -r -s -t"),
    "prlimit": _prefix("-p --pid -o"),
    "xvfb-run": _prefix("-e -f -n -p -s -w --server-num --server-args", "-a -l --auto-servernum"),
    "dumb-init": _prefix("-r", "-c -v"),
    "tini": _prefix("-p -e", "-s -v -w -g"),
    "entr": _prefix("", "-a -c -d -n -p -r -s -x -z"),
    "npx": _prefix("-p --package -c --call", "-y --yes -q --quiet --no-install --no"),
    "bunx": _prefix("", "--bun"),
    "uvx": _prefix("--from --with -p --python", "-q"),
    "corepack": _prefix(),
    "dotenv": _prefix("-e -c -p -v", "-o --override --debug"),
    "cross-env": _prefix(),
    "env-cmd": _prefix("-f -e -r --file --environments --rc-file", "--silent --no-override -x"),
    "watchexec": _prefix(
        "-e -w -f -i -s -d -o -E --exts --watch --filter --ignore --signal --debounce --env"
        " --on-busy-update --stop-signal --stop-timeout --project-origin --workdir --shell",
        "-r -c -n -p -q -N -v --restart --clear --postpone --quiet --notify --no-vcs-ignore",
    ),
    "wsl": _prefix("-d -u --distribution --user --cd --shell-type", "-e --exec --system"),
    "flatpak-spawn": _prefix("", "--host --sandbox --clear-env --watch-bus"),
}

# The versions of tools may stand before the command.
_MISE = msgspec.structs.replace(_prefix("-C -E -j", "-y -q -v", 1), may_lack=True)

# Programs of which one sub-command runs the rest of its words, likewise.
SUB_PREFIXES: dict[tuple[str, str], Prefix] = {
    **dict.fromkeys(
        [(tool, "run") for tool in ("uv", "poetry", "pipenv", "pdm", "hatch", "rye")],
        _prefix(
            "--with --extra --group --python -p --project --directory --env-file -m",
            "--frozen --locked --no-sync --all-extras --all-groups --dev --no-dev --isolated"
            " --active --offline --quiet -q -v",
        ),
    ),
    ("conda", "run"): _prefix("-n -p --name --prefix --cwd"),
    ("mamba", "run"): _prefix("-n -p --name --prefix --cwd"),
    ("bundle", "exec"): _prefix(),
    ("pnpm", "exec"): _prefix(),
    ("pnpm", "dlx"): _prefix("--package"),
    ("npm", "exec"): _prefix("-p --package -c --call -w", "-y --yes"),
    ("yarn", "exec"): _prefix(),
    ("yarn", "dlx"): _prefix("-p --package", "-q --quiet"),
    ("npm", "x"): _prefix("-p --package -c --call -w", "-y --yes"),
    ("pnpm", "x"): _prefix("-C --filter", "-c"),
    ("bun", "x"): _prefix("", "--bun"),
    ("fnm", "exec"): _prefix(
        "--using --fnm-dir --node-dist-mirror --log-level --arch", harmless="--using"
    ),
    ("nvm", "exec"): msgspec.structs.replace(
        _prefix("", "--silent", 1, harmless="--silent"), may_lack=True
    ),
    ("nvm", "run"): msgspec.structs.replace(_prefix("", "--silent", 1), may_lack=True),
    ("volta", "run"): _prefix("--node --npm --pnpm --yarn --env", "--bundled-npm --no-yarn"),
    ("pixi", "run"): _prefix("-e -p --environment --manifest-path --platform", "--frozen --locked"),
    ("dotenvx", "run"): _prefix("-f -e --env-file --env", "-q --quiet --overload"),
    ("dotenv", "run"): _prefix("-f --env-file"),
    ("direnv", "exec"): _prefix(operands=1),
    ("mise", "exec"): _MISE,
    ("mise", "x"): _MISE,
    ("asdf", "exec"): _prefix(harmless=""),
    ("pyenv", "exec"): _prefix(harmless=""),
    ("rbenv", "exec"): _prefix(harmless=""),
    ("rtx", "exec"): _MISE,
    ("rtx", "x"): _MISE,
    ("pipx", "run"): _prefix("--spec --pip-args --python --index-url", "--no-cache --pypackages"),
    ("micromamba", "run"): _prefix("-n -p -r --name --prefix --root-prefix --cwd"),
    ("infisical", "run"): _prefix("--env --path --token --projectId --domain", "--expand"),
    ("teller", "run"): _prefix("-c --config", "--reset --shell"),
    ("devbox", "run"): _prefix("-c -e --config --env --env-file", "--pure --list"),
    ("foreman", "run"): _prefix("-e -f -d --env --procfile --root"),
    ("honcho", "run"): _prefix("-e -f -d --env --procfile --app-root"),
    ("toolbox", "run"): _prefix("-c -d -r --container --distro --release"),
    ("limactl", "shell"): _prefix("--workdir --shell", operands=1),
    ("multipass", "exec"): _prefix("-d --working-directory", "-n --no-map-working-directory", 1),
    ("colima", "ssh"): _prefix("-p --profile"),
    ("rustup", "run"): _prefix(operands=1),
    ("op", "run"): _prefix("--env-file --account", "--no-masking"),
    ("doppler", "run"): _prefix("-p -c -t --project --config --token --command"),
    ("aws-vault", "exec"): _prefix("-d --duration --region", "-n -s", 1),
    ("chamber", "exec"): _prefix(operands=1),
    **dict.fromkeys(
        [(tool, "exec") for tool in ("docker", "podman", "nerdctl", "kubectl", "oc")],
        _prefix(
            "-e -u -w -n -c --env --env-file --user --workdir --detach-keys --namespace --container"
            " --context",
            "-i -t -d -q -T --interactive --tty --detach --privileged --stdin --no-TTY",
            1,
        ),
    ),
    **dict.fromkeys(
        [(tool, "run") for tool in ("docker", "podman", "nerdctl")],
        _prefix(
            "-e -u -w -v -p -m -l -h -a -c --env --env-file --user --workdir --volume --publish"
            " --name --network --mount --entrypoint --memory --cpus --hostname --label --platform"
            " --restart --add-host --cap-add --cap-drop --device --security-opt --pull --net --pid"
            " --ipc --gpus --shm-size --tmpfs --ulimit --log-driver",
            "-i -t -d -q -P -T --rm --no-deps --build --interactive --tty --detach --privileged"
            " --init --read-only",
            1,
        ),
    ),
    ("perf", "stat"): _PERF_STAT,
    ("perf", "record"): _PERF_RECORD,
    ("perf", "trace"): _prefix("-e -o -p -m -C -t --filter", "-s -S -a -T -f -v -i"),
    ("nsys", "profile"): _prefix("-o -t -f --output --trace --stats --sample --duration"),
    ("samply", "record"): _prefix("-o --output -r --rate -d --duration -p", "-s -n --save-only"),
    ("rr", "record"): _prefix("-o -n -c -s -v -D --output-trace-dir --env", "-h -w --chaos"),
    ("uftrace", "record"): _prefix("-d -D -F -N -P -A -R -a --data --depth", "-v --no-libcall"),
    ("opam", "exec"): _prefix("--switch --root", harmless=""),
    ("cabal", "exec"): _prefix("-w --project-file --with-compiler", "-v0 -v1 -v2 -v3"),
    ("stack", "exec"): _prefix("--package --stack-yaml --resolver", "--silent"),
    ("py-spy", "record"): _prefix(
        "-o -f -r -d -p -t --output --format --rate --duration --pid", "-s -n -F --native"
    ),
    ("git", "bisect run"): _prefix(),
    ("git", "submodule foreach"): _prefix("", "--recursive -q --quiet"),
}

# Programs whose option -c (or these) is followed by a command as one text.
SCRIPT_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SHELLS, ("-c", "--command")),
    "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command", "--session-command"),
    "script": ("-c", "--command"),
    "flock": ("-c", "--command"),
    "env": ("-S", "--split-string"),
    "npx": ("-c", "--call"),
    "npm": ("-c", "--call"),
    "nix-shell": ("--run", "--command"),
    "doppler": ("--command",),
    "infisical": ("--command",),
    "mise": ("-c", "--command"),
    "nodemon": ("-x", "--exec"),
    "chokidar": ("-c", "--command"),
    "vagrant": ("-c", "--command"),
    "gcloud": ("--command",),
    "fly": ("-C", "--command"),
    "flyctl": ("-C", "--command"),
    "mapfile": ("-C",),
    "readarray": ("-C",),
    "compgen": ("-C",),
    "complete": ("-C",),
    "hyperfine": (
        *("-p", "--prepare", "-s", "--setup", "-c", "--cleanup"),
        *("-C", "--conclude", "--reference"),
    ),
}

# Programs whose operands, after this many, are a command as text.
SCRIPT_OPERANDS = {
    "eval": 0,
    "trap": 0,
    "watch": 0,
    "ssh": 1,
    "hyperfine": 0,
    "poop": 0,
    "cross-env-shell": 0,
    "concurrently": 0,
}
# Of these each operand is a command by itself.
SCRIPT_EACH = names("concurrently hyperfine poop")
SCRIPT_OPERAND_OPTIONS = {
    "ssh": options(
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P",
        "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
    ),
    "trap": options(flags="-l -p"),
    "concurrently": options(
        "-n -c -p -m -l -s --names --prefix-colors --prefix --max-processes --success"
        " --handle-input --restart-tries --restart-after --default-input-target --timestamp-format",
        "-k -r -g --kill-others --kill-others-on-fail --raw --group --no-color --timings",
    ),
    "hyperfine": options(
        "-w -r -m -M -s -p -c -n -C -L -P -D -S -u --warmup --runs --min-runs --max-runs --prepare"
        " --cleanup --setup --conclude --command-name --parameter-list --parameter-scan"
        " --parameter-step-size --shell --time-unit --export-json --export-csv --export-markdown"
        " --export-asciidoc --export-orgmode --output --input --style --sort --reference"
        " --reference-name",
        "-i -N --ignore-failure --show-output",
    ),
    "poop": options("-d --duration --color", "-f --allow-failures"),
}

# Which option starts a command that ends with `;` or `+` or where the words end.
SEARCHES = {
    "find": names("-exec -execdir -ok -okdir"),
    "gfind": names("-exec -execdir -ok -okdir"),
    "fd": names("-x -X --exec --exec-batch"),
    "fdfind": names("-x -X --exec --exec-batch"),
    "nix": names("-c --command"),
    "guix": names("--"),
    "onchange": names("--"),
    "flox": names("--"),
    "distrobox": names("--"),
}

# Their first word may name a toolchain, as in `cargo +nightly build`.
RUST_TOOLS = names("cargo rustc rustdoc rustfmt cargo-clippy cargo-fmt rust-analyzer")

# Shells that run exactly the text behind these options and read nothing else that is not theirs.
PLAIN_SHELLS = names("sh bash dash")
PLAIN_SCRIPT = names("-c -lc")
