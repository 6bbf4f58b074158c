from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from pathlib import Path

import pytest

from tests.client.fake_core import PYTHON, SCRIPT
from watchgate import client, client_launcher

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
NATIVE = Path(__file__).resolve().parents[2] / "native"
LAUNCHER = Path(client_launcher.__file__)
# Whoever lets it decide over an agent has to be able to read it in one sitting.
MOST_LINES = 144
# These alone are compiled at every tool call.
MOST_LAUNCHER_LINES = 19


def imported(tree: ast.AST) -> set[str]:
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in plain for alias in node.names}


def test_it_imports_what_is_loaded_already_and_sockets() -> None:
    tree = ast.parse(SCRIPT.read_text())
    [fallback] = [node for node in tree.body if isinstance(node, ast.Try)]
    assert imported(tree) == {"sys", "time", "_socket", "posix", "socket", "os"}
    assert {name for handler in fallback.handlers for name in imported(handler)} == {"socket", "os"}


def test_what_the_documents_promise_in_numbers_is_what_both_clients_have() -> None:
    assert (client.OBSERVER_BUDGET_S, client.LOOK_S) == (0.15, 0.25)
    assert (client.PAYLOAD_LIMIT_BYTES, client.ANSWER_LIMIT_BYTES) == (4 << 20, 8 << 20)
    header = (NATIVE / "client.h").read_text()
    for line in (
        "PAYLOAD_LIMIT_BYTES (4L << 20)",
        "ANSWER_LIMIT_BYTES (8L << 20)",
        "OBSERVER_BUDGET_S 0.15",
        "LOOK_S 0.25",
    ):
        assert f"#define {line}\n" in header


def test_the_launcher_imports_nothing_else() -> None:
    assert imported(ast.parse(LAUNCHER.read_text())) == {
        "_frozen_importlib_external",
        "binascii",
        "marshal",
    }


def test_a_run_loads_no_module_but_those(tmp_path: Path) -> None:
    shown = tmp_path / "shown.py"
    text = "import sys\nbefore = set(sys.modules)\n"
    text += SCRIPT.read_text().split("if __name__")[0]
    shown.write_text(text + "print(*sorted(set(sys.modules) - before))\n")
    done = subprocess.run([PYTHON, "-I", "-S", shown], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["_socket"]


@pytest.mark.parametrize(
    ("script", "most_lines"), [(SCRIPT, MOST_LINES), (LAUNCHER, MOST_LAUNCHER_LINES)]
)
def test_it_is_short(script: Path, most_lines: int) -> None:
    text = script.read_text()
    tree = ast.parse(text)
    described = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    assert len(code - described) <= most_lines


@pytest.mark.parametrize("script", [SCRIPT, LAUNCHER])
def test_it_is_written_for_python_3_8(script: Path) -> None:
    ast.parse(script.read_text(), feature_version=(3, 8))
