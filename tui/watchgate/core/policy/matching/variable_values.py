"""Harmless values of variables, which start no code and lead nowhere else.

Most are what builds are set up by: a compiler of a known name, how many jobs, for which system.
"""

from __future__ import annotations

import re

from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.shell.commands import Word

_COMPILER = (
    r"(?:/usr/(?:local/)?bin/|/opt/homebrew/(?:opt/llvm/)?bin/)?(?:[\w.]+-){0,4}"
    r"(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|icc|icpc|icx|icpx|nvcc|emcc|em\+\+)(?:-\d[\d.]*)?"
)
# An option of a compiler that names no program and no file to load.
_PLAIN_OPTION = (
    r"-(?:[OgwDUmE][\w=,.+-]*|W(?![alp],)[\w=,.+-]*|[lIL][\w./+-]+|std=[\w+]+|pthread"
    r"|f(?!plugin|pass-plugin|use-ld)[\w=,.+-]*)"
)
_JVM_OPTION = (
    r"-(?:X(?:m[xsn]|ss)\d+[kmgKMG]?|XX:(?:[+-]Use\w+|(?:Max|Initial)\w+=[\d.]+[kmgKMG]?)|ea"
    r"|D(?:file\.encoding|user\.(?:language|timezone|country)|java\.awt\.headless)=[\w/+-]+)"
)
_GO_OPTION = r"-(?:(?:mod|tags|count|buildvcs|p|run|timeout)=[\w,./-]+|race|v|x|trimpath|short)"

PLAIN_VALUE = re.compile(
    r"(?:\w*PAGER|\w*EDITOR|VISUAL|LESS)=(?:cat|true|:|)"
    r"|FLASK_APP=[\w.:/-]+"
    rf"|(?:C|CXX|CPP|LD|CGO_(?:C|CXX|CPP|LD))FLAGS=(?:{_PLAIN_OPTION}(?: (?=-)|$))*"
    r"|RUST(?:DOC)?FLAGS=(?:(?:-[DWAF] ?[\w:-]+|--cfg ?[\w=\"]+"
    r"|-C ?(?:target-cpu|opt-level|debuginfo|debug-assertions|codegen-units|overflow-checks|lto"
    r"|instrument-coverage|target-feature|panic|strip|force-frame-pointers)(?:=[\w+,-]+)?"
    r"|-Z ?(?:sanitizer=\w+|randomize-layout|threads=\d+))"
    r"(?: (?=-)|$))*"
    rf"|(?:CC|CXX)=(?:s?ccache )?{_COMPILER}(?: {_PLAIN_OPTION})*"
    rf"|GOFLAGS=(?:{_GO_OPTION}(?: (?=-)|$))*|RUSTC(?:_WORKSPACE)?_WRAPPER="
    r"|MAKEFLAGS=(?:-?-?(?:j ?\d*|k|s|w|output-sync\w*|no-print-directory)(?: (?=-)|$))+"
    r"|(?:MAVEN_OPTS|GRADLE_OPTS|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS)"
    rf"={_JVM_OPTION}(?: {_JVM_OPTION})*"
    r"|ANSIBLE_\w+=(?:[Tt]rue|[Ff]alse|[01]|yes|no)"
    r"|ANSIBLE_(?:STDOUT_CALLBACK|CALLBACKS_ENABLED)=(?:default|yaml|json|debug|minimal|oneline|dense"
    r"|null|unixy|timer|profile_tasks|(?:ansible\.posix|community\.general)\.\w+)"
    r"|NODE_OPTIONS=(?:(?:(?<==)| )--(?:max[_-]old[_-]space[_-]size=\d+|no-warnings"
    r"|no-deprecation|trace-[\w-]+|enable-source-maps|openssl-legacy-provider|experimental-vm-modules"
    r"|experimental-strip-types|unhandled-rejections=\w+|stack-trace-limit=\d+))+"
    r"|RUBYOPT=-W(?::no-\w+|[012])|PERL5?LIB=(?:lib|local/lib/perl5|t/lib)"
    # It changes what a rebase does with its commits, and runs nothing.
    r"|GIT_SEQUENCE_EDITOR=(?:sed|perl) -p?i(?:\.bak)?(?: -[eE])*(?: ?['\"]?(?:-e ['\"]?)?"
    r"(?:(?:\d+|\$)(?:,(?:\d+|\$))? ?)?"
    r"s/\^?(?:pick|p|[0-9a-f]{7,40}|squash|fixup|edit|reword)(?: [0-9a-f]{7,40})?"
    r"/(?:pick|squash|fixup|edit|reword|[sfer])(?: [0-9a-f]{7,40})?/;?['\"]?){1,6}"
    r"|PYTHONWARNINGS=(?:error|ignore|default|always|module|once)(?:::\w+)?"
    r"|PYTEST_ADDOPTS=(?:(?:(?<==)| )(?:-[qvxs]+|--tb=\w+|--maxfail=\d+|--color=\w+|--lf|--ff))+"
)
"""Of variables that else make a program load or start what they name."""

# They choose among what a program has; no value of theirs is a file or a program.
_CHOOSING = re.compile(
    r"(?:GO(?:OS|ARCH|ARM|AMD64|ARM64|386|MIPS|WASM|MAXPROCS|GC|111MODULE|MEMLIMIT|TRACEBACK)"
    r"|CGO_ENABLED|RUST_(?:BACKTRACE|LOG|TEST_THREADS|MIN_STACK)|CARGO_(?:TERM_COLOR|INCREMENTAL"
    r"|NET_OFFLINE|BUILD_JOBS)|CMAKE_BUILD_(?:TYPE|PARALLEL_LEVEL)|CTEST_(?:OUTPUT_ON_FAILURE"
    r"|PARALLEL_LEVEL)|OMP_NUM_THREADS|GTEST_(?:FILTER|COLOR|REPEAT)|VERBOSE|NUM_JOBS|JOBS)="
)
# Where the administrator has put toolchains and libraries.
_TOOLCHAIN = re.compile(
    r"(?:JAVA_?\d*_HOME|JDK_HOME|JAVA_HOME_\w+|GOROOT|ANDROID_(?:HOME|SDK_ROOT|NDK_HOME|NDK_ROOT|NDK)"
    r"|NDK_HOME|SDKROOT|DEVELOPER_DIR|PKG_CONFIG_(?:PATH|LIBDIR|SYSROOT_DIR)|CMAKE_PREFIX_PATH"
    r"|LIBCLANG_PATH|LLVM_(?:DIR|CONFIG_PATH|SYS_\d+_PREFIX|HOME)|OPENSSL_(?:DIR|ROOT_DIR|LIB_DIR"
    r"|INCLUDE_DIR)|Qt\d_DIR|BOOST_ROOT|CUDA_(?:HOME|PATH)|M(?:2|AVEN)_HOME|GRADLE_HOME|DOTNET_ROOT"
    r"|VCPKG_ROOT|EMSDK|WASI_SDK_PATH|PICO_SDK_PATH|CPATH|C(?:PLUS)?_INCLUDE_PATH|LIBRARY_PATH"
    r"|\w+SAN_SYMBOLIZER_PATH)="
    r"(?:\$\(/usr/libexec/java_home(?: -v ?[\d.]+\+?)?\)"
    r"|(?::?/(?:usr|opt|nix/store|snap|Library/Java|Applications/Xcode[\w.-]*\.app)"
    r"(?:/(?!\.\.)[\w.+@-]+)*/?)+)"
)
# They say where something is written, which runs nothing of what lies there.
_OUTPUT = re.compile(
    r"(?:DESTDIR|TMPDIR|GOTMPDIR|GCOV_PREFIX|LLVM_PROFILE_FILE|GOCOVERDIR)=(?P<path>.+)"
    r"|[A-Z]+SAN_OPTIONS=(?:[\w=./,-]*[:,\s])?log_path=(?P<log>[^:\s]+)(?:[:\s][\w=]+)*"
)
_HERE = re.compile(r"\$(?:PWD|\{PWD\}|\(pwd\))(/[\w./-]*)?")


def is_harmless_setting(word: Word, place: Place) -> bool:
    """Returns whether a value only chooses, names a system toolchain, or a place to write.

    Such a place lies in the session's folder or in one for temporary files.
    """
    text = word.text
    if _CHOOSING.match(text):
        return True
    if _TOOLCHAIN.fullmatch(text):
        return True
    match = _OUTPUT.fullmatch(text)
    if match is None:
        return False
    path = match["path"] or match["log"]
    if here := _HERE.fullmatch(path):
        path = f"{place.cwd}{here[1] or ''}" if place.cwd else ""
    elif word.dynamic:
        return False
    return bool(path) and all(
        place.inside(form) or place.temporary(form) for form in place.forms(path)
    )
