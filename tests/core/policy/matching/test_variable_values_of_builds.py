"""Variables in front of a build: what only chooses is ordinary, what loads or runs code is held."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.rules.profiles import held_profiles


@pytest.mark.parametrize(
    "command",
    [
        "GOOS=${t%/*} GOARCH=${t#*/} go build ./...",
        "GOFLAGS='-mod=vendor -tags=integration' go test ./...",
        "CC='ccache gcc' CXX=/usr/bin/clang++-18 make",
        "MAKEFLAGS=-j8 make",
        "RUSTC_WRAPPER= cargo build",
        "MAVEN_OPTS='-Xmx2g -Dfile.encoding=UTF-8' mvn test",
        "JAVA_HOME=/usr/lib/jvm/java-21-openjdk ./mvnw verify",
        "PKG_CONFIG_PATH=/usr/lib/pkgconfig:/opt/x/lib/pkgconfig cmake -B build",
        "ASAN_OPTIONS=log_path=/tmp/asan:detect_leaks=0 ./build/test",
        "DESTDIR=$PWD/stage make all",
        "A=1 timeout 5 make test",
        "A=1 cat x",
    ],
)
def test_what_only_sets_a_build_up_is_held_in_no_profile(command: str) -> None:
    assert not held_profiles(judge_command(command)).strict


@pytest.mark.parametrize(
    "command",
    [
        "GOFLAGS=-toolexec=x go build ./...",
        "GOFLAGS='-mod=vendor -exec=./x' go test ./...",
        "CC='gcc -fplugin=x.so' make",
        "CC='gcc -B/tmp/x' make",
        "CC='sh -c x' make",
        "CC=/tmp/x make",
        "MAKEFLAGS=--eval=x make",
        "RUSTC_WRAPPER=./x cargo build",
        "MAVEN_OPTS='-Xmx1g -javaagent:x.jar' mvn test",
        "JAVA_HOME=/tmp/x ./mvnw verify",
        "JAVA_HOME=/usr/lib/../../tmp/x ./mvnw verify",
        "JAVA_HOME=$X ./mvnw verify",
        "ASAN_OPTIONS=log_path=/etc/x ./build/test",
        "DESTDIR=/etc make all",
        "DESTDIR=$PWD/../x make all",
        "TMPDIR=$X make all",
        "LD_LIBRARY_PATH=lib ./build/test",
    ],
)
def test_what_loads_code_or_leads_away_is_held_where_nobody_sits_there(command: str) -> None:
    assert held_profiles(judge_command(command)).guard_unattended


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("perf stat -e cycles rm -rf src", "files.delete-recursive"),
        ("valgrind --leak-check=full rm -rf src", "files.delete-recursive"),
        ("gdb -batch -ex run --args rm -rf src", "files.delete-recursive"),
        ("lldb -b -o run -- rm -rf src", "files.delete-recursive"),
        ("qemu-arm -cpu cortex-a7 rm -rf src", "files.delete-recursive"),
        ("strace -f -o /tmp/x git push --force", "git.force-push"),
        ("cargo +nightly publish", "remote.publish"),
        ("hyperfine -w 3 ls --export-json /tmp/x 'git push --force'", "git.force-push"),
        ("hyperfine --prepare 'git push --force' ls", "git.force-push"),
    ],
)
def test_the_command_behind_a_wrapper_is_judged_by_itself(command: str, inner: str) -> None:
    assert inner in {finding.rule for finding in judge_command(command).findings}
