"""Pieces of Python and the commands that do the same."""

from __future__ import annotations

import sys
import threading

import pytest

from watchgate.core.policy.code.code_reading import Argv, UnknownWord
from watchgate.core.policy.code.python.dotted_names import STANDARD
from watchgate.core.policy.code.python.python_reader import read

SOME = UnknownWord()


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        ("print(open('a.json').read())", [("cat", "a.json")]),
        ("open('a', 'w').write('x')", [("tee", "a")]),
        ("open('a', 'a').write('x')", [("tee", "-a", "a")]),
        ("open('a', 'r+')", [("cat", "a"), ("tee", "a")]),
        ("open(input())", [("cat", SOME)]),
        ("n = 'x'\nopen(f'/etc/{input()}.d/{n}')", [("cat", UnknownWord("/etc/$(...).d/x"))]),
        ("import shutil\np = 'build'\nshutil.rmtree(p)", [("rm", "-r", "build")]),
        ("import os\nfor p in 'a', 'b': os.remove(p)", [("rm", "a"), ("rm", "b")]),
        (
            "import os\nfor f in os.listdir('x'): os.remove('x/' + f)",
            [("ls", "x"), ("rm", UnknownWord("x/$(...)"))],
        ),
        (
            "from pathlib import Path\n[p.unlink() for p in Path('x').rglob('*.pyc')]",
            [("find", "x"), ("rm", UnknownWord("x/$(...)"))],
        ),
        (
            "import os\nos.makedirs('a/b'); os.rename('a', 'b')",
            [("mkdir", "-p", "a/b"), ("mv", "a", "b")],
        ),
        ("import os\nos.chmod('x', 0o755)", [("chmod", "755", "x")]),
        ("import os\nos.kill(12, 9)", [("kill", "-9", "12")]),
        ("import os, signal\nos.kill(12, signal.SIGTERM)", [("kill", "-TERM", "12")]),
        ("import os\nos.system('ls | wc')", [("sh", "-c", "ls | wc")]),
        ("import subprocess as s\ns.run(['ls', '-l'])", [("ls", "-l")]),
        ("import subprocess as s\ns.run(['ls', *x()])\ndef x(): return y", []),
        ("import subprocess as s\ns.run(['a b'], cwd='x y')", [("sh", "-c", "cd 'x y' && 'a b'")]),
        (
            "import subprocess as s, sys\ns.run([sys.executable, '-m', 'pytest'])",
            [("python3", "-m", "pytest")],
        ),
        ("import os\nprint(os.environ['A'])", [("printenv", "A")]),
        ("import os\nos.environ['A'] = 'b'", [("export", "A=b")]),
        ("import mypkg.core", [("python3", "-m", "mypkg.core")]),
        (
            "import sys\nsys.path.insert(0, '/x')\nimport a",
            [("python3", "-m", "a.__init__"), ("python3", "/x/a.py")],
        ),
        ("from . import a", [("python3", "-m", "__init__")]),
        (
            "import a\na.load('data/x.json')",
            [("python3", "-m", "a.__init__"), ("cat", "data/x.json")],
        ),
        ("import pandas as p\np.DataFrame().to_csv('x.csv')", [("tee", "x.csv")]),
        ("import requests\nrequests.get('https://x.example')", [("curl", "https://x.example")]),
        (
            "import requests\nrequests.post('https://x.example', json={})",
            [("curl", "-X", "POST", "-d", SOME, "https://x.example")],
        ),
        (
            "import socket\nsocket.socket().connect_ex(('localhost', 80))",
            [("nc", "-z", "localhost", "80")],
        ),
        ("import shutil\nshutil.rmtree('--help')", [("rm", "-r", "./--help")]),
        ("import os\nos.chdir('x')\nopen('a')", [("cd", "x"), ("cat", "a")]),
        (
            "import sqlite3\nsqlite3.connect('a.db').execute('SELECT 1')",
            [("sqlite3", "a.db", "SELECT 1")],
        ),
    ],
)
def test_code_does_what_these_commands_do(code: str, commands: list[Argv]) -> None:
    assert list(read(code).commands) == commands


def test_the_modules_of_this_python_are_known_as_such() -> None:
    assert {name for name in sys.stdlib_module_names if name[:1] != "_"} <= STANDARD


def test_the_files_that_may_be_loaded_in_place_of_modules_are_named() -> None:
    code = "import json, a.b\nfrom c.d import e\nx = __import__('re')"
    assert read(code).loads == ("json.py", "a.py", "c.py", "re.py")


def test_a_name_has_all_values_that_it_gets_anywhere() -> None:
    code = "import os\np = 'a'\ndef f(): os.remove(p)\nif input(): p = 'b'\nf()"
    assert set(read(code).commands) == {("rm", "a"), ("rm", "b")}


def test_names_that_change_for_ever_come_to_an_end() -> None:
    loop = "    s += 'a'\n    t = [s]\n    t = [t, t]\n    os.remove(s)"
    code = f"import os\ns = ''\nwhile True:\n{loop}"
    assert read(code).commands == (("rm", SOME),)


@pytest.mark.parametrize(
    "code",
    [
        "-" * 9_000 + "1",
        "not " * 2_400 + "1",
        "lambda: " * 1_200 + "1",
        "1 if 1 else " * 800 + "1",
        "2" + "**2" * 3_000,
        "(" * 5_000,
        "[" * 5_000 + "]" * 5_000,
        "if 1: pass\n" + "elif 1: pass\n" * 750,
        "a" + ".a" * 4_900,
        "a" + "()" * 4_900,
        "a" + "[0]" * 3_300,
        "1" + "+1" * 4_900,
        "f'" + "{f" * 50 + "'",
        "".join(" " * n + "if 1:\n" for n in range(99)) + " " * 99 + "1",
        "x = " + "a = " * 2_400 + "1",
        "@a\n" * 3_000 + "def f(): pass",
        "a: " * 3_000,
        "\x00",
        "\ud800",
        "# coding: utf-7\n+AG8-",
    ],
)
def test_no_shape_of_code_breaks_the_reader(code: str) -> None:
    done: list[bool] = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: done.append(bool(read(code).unread) or True))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert done == [True]


def test_a_warning_about_the_code_goes_nowhere(recwarn: pytest.WarningsRecorder) -> None:
    assert read("print('\\d', 1 is 1)").unread == ""
    assert not recwarn.list
    assert sys.getrecursionlimit() > 500
