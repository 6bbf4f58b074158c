"""A filter of the common picture as one of its cores understands it."""

from __future__ import annotations

import msgspec

from watchgate.core.filters import Filter, FilterError, parse


def for_host(text: str, host: str, now_us: int) -> str | None:
    """The filter for the core of a host, which knows of no hosts; None: it keeps nothing there.

    One that cannot be read stays as it is: the core says what is wrong with it.
    """
    try:
        wanted = parse(text, now_us=now_us)
    except FilterError:
        return text
    if not all(term.test()(host) for term in wanted.terms if term.key == "host"):
        return None
    terms = []
    for term in wanted.terms:
        if term.key == "host":
            continue
        value = term.value
        if term.key == "session":
            own = (f"{host}/", f"{host}:")
            if not value.startswith(own) and "/" in value and not term.negated:
                return None
            value = value.removeprefix(own[0]).removeprefix(own[1])
        elif term.key == "request":
            value = value.removeprefix(f"{host}/")
        terms.append(msgspec.structs.replace(term, value=value))
    return str(Filter(tuple(terms)).pinned())
