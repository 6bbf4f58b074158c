"""Secrets in a text: only shapes with a fixed beginning, no guessing by randomness.

So ordinary text stays readable. Every text of every record is searched, and almost none holds a
secret: shapes are therefore looked for only where a cheap mark says that there may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from watchgate.core.text import hidden_spans

# What a shell acts on is never taken for a secret: a command must not hide behind `TOKEN=`.
_INERT = r"[^\s\"'`$<>()|;&]"
_VALUE = rf"[\"']?(?P<value>{_INERT}{{6,}})"
_BREAK = r"(?:\n-(?!-)|[\s\"'+,]|\\[nr])"
# Only what looks like the lines of a key, for the same reason. Nothing is tried twice.
_PEM = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    rf"(?:{_BREAK}++(?:Proc-Type|DEK-Info): [\w,-]++)*+"
    rf"(?:{_BREAK}++[A-Za-z0-9+/=]{{16,}}+)*+"
    rf"(?:{_BREAK}*+[A-Za-z0-9+/=]{{0,64}}+{_BREAK}*+-----END [A-Z ]*PRIVATE KEY-----)?"
)


def _search(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).search


def _header(text: str) -> bool:
    low = text.lower()
    return "authorization" in low or "x-api-key" in low


# By sign and mark, the kinds of secrets that they announce, and the shape of each; a group `value`
# is the part that is replaced. A sign is found fast and most texts have few of them; only where it
# is found, the mark looks more closely. Both must also hold where the text stands in JSON: they ask
# for no characters that are escaped there, and for nothing before the secret.
_SHAPES = tuple(
    (sign, mark, tuple((kind, re.compile(pattern)) for kind, pattern in shapes))
    for sign, mark, shapes in (
        (
            "_",
            _search(
                r"_(?<=[pousrtmkf]_)"
                r"(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=npm_)|(?<=hf_)"
                r"|(?<=[rs]k_)(?:live|test)_|(?<=do[opr]_)v1_)"
            ),
            (
                ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
                ("npm-token", r"\bnpm_[A-Za-z0-9]{30,}"),
                ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
                ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}"),
                ("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{40,}"),
            ),
        ),
        (
            "-",
            _search(
                r"-(?:(?<=sk-)|(?<=glpat-)|(?<=xox[abeoprs]-)|(?<=pypi-)|----BEGIN "
                r"|-(?i:(?:\w+-)*(?:password|passwd|token|secret|api-?key)[= ]))"
            ),
            (
                ("anthropic-key", r"\bsk-ant-[\w-]{16,}"),
                ("openai-key", r"\bsk-(?:proj-|svcacct-)?[\w-]{20,}"),
                ("gitlab-token", r"\bglpat-[\w-]{16,}"),
                ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
                ("pypi-token", r"\bpypi-AgE[\w-]{30,}"),
                ("private-key", _PEM),
                (
                    "password",
                    r"(?i:--(?:\w+-)*(?:password|passwd|token|secret|api-?key)[= ])" + _VALUE,
                ),
            ),
        ),
        (
            "A",
            _search(r"A(?:KIA|SIA|Iza)"),
            (
                ("aws-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
                ("google-key", r"\bAIza[\w-]{35}"),
            ),
        ),
        (
            "J",
            _search(r"J(?<=eyJ)"),
            (("jwt", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),),
        ),
        (
            "@",
            _search(r"://[^/\s]*@"),
            (("url-password", r"://[^/\s:@]*:(?P<value>[^\s\"'`$<>()|;&/@]+)@"),),
        ),
        (
            "Key=",
            _search(r"(?:Account|SharedAccess)Key="),
            (("azure-key", r"\b(?:Account|SharedAccess)Key=(?P<value>[\w+/]{30,}=*)"),),
        ),
        (
            "/services/",
            _search(r"hooks\.slack\.com/services/"),
            (("slack-webhook", r"hooks\.slack\.com/services/(?P<value>[\w/]{20,})"),),
        ),
        (
            "SG.",
            _search(r"SG\."),
            (("sendgrid-key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),),
        ),
        (
            "hvs.",
            _search(r"hvs\."),
            (("vault-token", r"\bhvs\.[\w-]{20,}"),),
        ),
        (
            "AGE-SECRET-KEY-1",
            _search(r"AGE-SECRET-KEY-1"),
            (("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),),
        ),
        (
            "",  # always found: nothing in it is rare in any case
            _header,
            (
                (
                    "authorization",
                    (
                        r"(?i:\bauthorization\s*:\s*(?:(?:bearer|basic|token)\b\s*)?"
                        r"(?!(?:bearer|basic|token)\b))"
                        rf"(?P<value>{_INERT}{{6,}})"
                    ),
                ),
                ("api-key", rf"(?i:\bx-api-key\s*:)\s*(?P<value>{_INERT}{{6,}})"),
            ),
        ),
        (
            "=",
            _search(
                r"=(?<=[dntyDNTY]=)(?i:(?<=password=)|(?<=passwd=)|(?<=token=)|(?<=secret=)"
                r"|(?<=apikey=)|(?<=api_key=)|(?<=access_key=)|(?<=secret_key=))"
            ),
            (
                (
                    "password",
                    r"(?i:\b\w*(?:password|passwd|token|secret|api_?key|access_key|secret_key)=)"
                    + _VALUE,
                ),
            ),
        ),
    )
)


class Secret(msgspec.Struct, frozen=True):
    """A secret found in a text: what it is and where."""

    kind: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        """What stands in its place."""
        return f"<{self.kind}, {self.end - self.start} chars>"


def marked(text: str) -> bool:
    """Whether a secret may be in the text, which may be the JSON of many texts."""
    for sign, mark, _ in _SHAPES:  # noqa: SIM110 - any() takes half as long again
        if sign in text and mark(text):
            return True
    return False


def secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order; where two overlap, the one that begins first.

    One that holds a character nobody can see is left out: a secret must not cover that up.
    """
    found = [
        Secret(kind, *match.span("value" if "value" in pattern.groupindex else 0))
        for sign, mark, shapes in _SHAPES
        if sign in text and mark(text)
        for kind, pattern in shapes
        for match in pattern.finditer(text)
    ]
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        apart = not kept or secret.start >= kept[-1].end
        if apart and not hidden_spans(text[secret.start : secret.end]):
            kept.append(secret)
    return kept
