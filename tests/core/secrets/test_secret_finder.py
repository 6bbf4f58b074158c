"""Secrets in texts: each kind is found by its example, and ordinary text stays as it is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from types import MappingProxyType

import pytest

from watchgate.core.secrets.announced_secrets import ANNOUNCED
from watchgate.core.secrets.argument_secrets import ROWS, ArgumentRule
from watchgate.core.secrets.redact import redact
from watchgate.core.secrets.secret_finder import marked, secrets
from watchgate.core.secrets.token_shapes import TOKENS

KINDS_AT_LEAST = 150
FILLS = {
    "": "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ",
    "x": "0a1b2c3d4e5f6789",
    "d": "1029384756",
    "u": "A1B2C3D4E5F6G7H8",
}


def written(example: str) -> str:
    """An example with its places filled in."""

    def fill(place: re.Match[str]) -> str:
        count, letters = int(place[1]), FILLS[place[2]]
        return (letters * (count // len(letters) + 1))[:count]

    return re.sub(r"<(\d+)([xdu]?)>", fill, example)


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        *((each.kind, each.example) for each in TOKENS),
        *((each.kind, each.example) for each in ANNOUNCED),
    ],
)
def test_each_kind_is_found_in_its_example_and_in_the_data_of_a_record(
    kind: str, example: str
) -> None:
    text = written(example)
    assert [each.kind for each in secrets(text)] == [kind]
    for before in ("", "\n", "\x1f", '"', "é "):
        assert marked({"command": [before + text, "x"]})


def test_a_secret_is_found_beside_texts_that_are_remembered_as_plain() -> None:
    token = written("ghp_<36>")
    plain = {"cwd": "/src/shop", "argv": ["git", "log"], "count": 3, "more": None}
    assert [marked(plain), marked(plain)] == [False, False]
    assert marked({**plain, "summary": token})
    assert marked({**plain, "argv": ["git", "log", token]})
    assert marked({**plain, "rows": [{"detail": ("x", {"text": token})}]})
    assert marked({**plain, "other": MappingProxyType({"text": token})})
    assert not marked(plain), "what was found in another value is not said of this one"


def test_words_that_are_plain_alone_are_a_secret_behind_what_announces_it() -> None:
    announcer, value = "--password", "hunter22"
    assert not marked({"argv": [value]})
    assert not marked({"argv": [announcer]})
    assert marked({"argv": [announcer, value]})


@pytest.mark.parametrize("row", ROWS, ids=[row.programs[0] for row in ROWS])
def test_each_program_s_secret_is_found_among_its_words(row: ArgumentRule) -> None:
    text = written(row.example)
    value = re.search(r"<\d+[xdu]?>", row.example)
    assert value is not None
    assert written(value[0]) not in redact(text)
    assert marked({"command": text})


def test_the_table_knows_the_kinds_that_scanners_know() -> None:
    assert len({(each.kind, each.head) for each in TOKENS}) + len(ANNOUNCED) >= KINDS_AT_LEAST


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo hunter2x | sudo -S id", "echo <password, 8 chars> | sudo -S id"),
        (
            "printf 's3cr3tpw' | docker login --password-stdin",
            "printf '<password, 8 chars>' | docker login --password-stdin",
        ),
        ("sudo -S id <<< hunter2x", "sudo -S id <<< <password, 8 chars>"),
        ("curl -b session=abcdef h", "curl -b session=<password, 6 chars> h"),
        ("curl --user=me:hunter22 h", "curl --user=me:<password, 8 chars> h"),
        ("curl -ume:hunter22 h", "curl -ume:<password, 8 chars> h"),
        ("cd x && curl -u 'me:hunter22' h", "cd x && curl -u 'me:<password, 8 chars>' h"),
        ("PGPASSWORD=hunter22 psql", "PGPASSWORD=<password, 8 chars> psql"),
        ("XYZPASSWORD=hunter22 run", "XYZPASSWORD=<password, 8 chars> run"),
        ("password: hunter22", "password: <password, 8 chars>"),
        ('{"api_key": "a1b2c3d4e5f6"}', '{"api_key": "<password, 12 chars>"}'),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
            "aws_secret_access_key = <password, 21 chars>",
        ),
        (
            "printf '1357924\\n' | watchgate unlock",
            "printf '<password, 9 chars>' | watchgate unlock",
        ),
        ("password = correct.horse[3", "password = <password, 15 chars>"),
        ("x --passphrase correct-horse y", "x --passphrase <password, 13 chars> y"),
    ],
)
def test_what_is_announced_is_covered(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "docker run -p 8080:80 nginx",
        "docker ps --all",
        "git commit -m 'rotate the token'",
        "password: string;",
        "token: Token | None = None",
        "def login(user: str, password: str) -> Token:",
        "secretName: tls-cert",
        "kubectl get secret app -o name",
        "mkdir -p build && cp -p a b",
        "grep -rn 'api_key' src",
        "curl -u $USER:$PASS h",
        "curl -s https://example.org/a/b?key=value",
        "sshpass -p $PW ssh h",
        "echo hello | grep h",
        "openssl req -new -key server.key -out server.csr",
        "ssh-keygen -t ed25519 -N '' -f k",
        "export PATH=$HOME/bin:$PATH",
        "3f1c2a7e-2d41-4c7b-9d3e-0a1b2c3d4e5f",
        "0a1b2c3d" * 8,
        "task-management-service-deployment-controller",
        "zip -r a.zip src",
        "mysql -u root -p shop",
        "key-value store",
        "st. petersburg and sl. no",
        "https://user@example.org/path",
        "vercel deploy --prod",
        "npm install -g pnpm",
        "docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/db postgres:16",
        "rsync -avz --password-file=/etc/rsync.pw src/ host::mod",
        'token = request.headers.get("X-Token")',
        'api_key = os.environ["API_KEY"]',
        "secret = secrets.token_hex(32)",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


PIECES = (
    "eyJa-",
    "eyJ",
    "sk.eyJ",
    "sk-",
    "SG.a",
    "t1.a",
    "-----BEGIN PRIVATE KEY-----\n",
    "://:",
    "://a:",
    "password",
    "password ",
    "--token-",
    "--a-",
    "token:",
    "cookie: a",
    "; a=",
    "curl ",
    "curl -u ",
    "echo a | sudo ",
    "'",
    '"',
    "-us1",
    "A" * 24 + ".",
    "key= ",
    "secret_",
    "authorization: bearer ",
    "bearer ",
    "login a password ",
    "&sig=",
    "1/1234567890:",
    "x-a-",
    "a-b-",
    "K10",
    "v1.0-",
    "xoxb-",
    "gh",
    "ghp_",
    "access_token$",
    "organizations/",
    "Private-Lines: 1\n",
    "identified by '",
    "=",
    "key=",
)


def _spent_s(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("piece", PIECES)
def test_the_time_grows_with_the_text_alone(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (8_000, 64_000))
    # Eight times the text: a time that grows with its square would be 64 times as long.
    assert _spent_s(lambda: secrets(large)) <= 24 * max(_spent_s(lambda: secrets(small)), 0.001)
