"""Secrets in a text: only shapes with a fixed beginning, no guessing by randomness.

So ordinary text stays readable. Every text of every record is searched, and almost none holds a
secret: shapes are therefore looked for only where a cheap mark says that there may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

_VALUE = r"[\"']?(?P<value>[^\s\"'$<(|;&]{6,})"


def _search(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).search


def _header(text: str) -> bool:
    return "authorization" in text.lower()


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
                r"_(?<=[pousrtmk]_)"
                r"(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=npm_)|(?<=[rs]k_)(?:live|test)_)"
            ),
            (
                ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
                ("npm-token", r"\bnpm_[A-Za-z0-9]{30,}"),
                ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
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
                (
                    "private-key",
                    (
                        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)"
                        r"(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
                    ),
                ),
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
            (("jwt", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),),
        ),
        (
            "@",
            _search(r"://[^/\s]*@"),
            (("url-password", r"://[^/\s:@]*:(?P<value>[^/\s@]+)@"),),
        ),
        (
            "",  # always found: nothing in it is rare in any case
            _header,
            (
                (
                    "authorization",
                    r"(?i:\bauthorization\s*:\s*(?:bearer|basic|token)?)\s*(?P<value>[^\s\"']{6,})",
                ),
            ),
        ),
        (
            "=",
            _search(
                r"=(?<=[dntyDNTY]=)(?i:(?<=password=)|(?<=passwd=)|(?<=token=)|(?<=secret=)"
                r"|(?<=apikey=)|(?<=api_key=))"
            ),
            (
                (
                    "password",
                    r"(?i:\b\w*(?:password|passwd|token|secret|api_?key)=)" + _VALUE,
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
    """The secrets in a text, in order; where two overlap, the one that begins first."""
    found = [
        Secret(kind, *match.span("value" if "value" in pattern.groupindex else 0))
        for sign, mark, shapes in _SHAPES
        if sign in text and mark(text)
        for kind, pattern in shapes
        for match in pattern.finditer(text)
    ]
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept
