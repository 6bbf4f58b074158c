"""What the clients of one core do in its life, whatever becomes of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from tests.crash.clients import Control, Hook
from tests.crash.ledger import Promises

ASKING = 3
GRANTS_KEPT = 2
OFTEN = 0.5
_TRIES = 10_000


class Life:
    """The clients of one core: agents that ask, and one who decides. `name` is the core's."""

    def __init__(self, run: Path, name: str, random: Random, promises: Promises) -> None:
        self._run = run
        self._name = name
        self._random = random
        self._promises = promises
        self._session = f"session-{name}"
        self._hooks: list[Hook] = []

    def play(self, operator: Control, grants: list[dict[str, Any]]) -> None:
        """All of it, or as far as the core lives: raises `Gone` then."""
        self._ask(grants)
        self._decide(operator)
        self._switch(operator)
        self._take_back(operator)
        self._purge(operator)

    def end(self) -> None:
        """Hear what was said to the agents; the core is dead by now."""
        for hook in self._hooks:
            hook.listen()
            self._promises.heard(hook)

    def _ask(self, grants: list[dict[str, Any]]) -> None:
        # One program for all: a policy looks a new one up among all its rules.
        words = [f"build build-{self._name}-{number}" for number in range(ASKING)]
        # The last call is one that a grant of an earlier core answers, if there is any.
        words += [str(grant["summary"]) for grant in grants[-1:]]
        for word in words:
            self._hooks.append(Hook(self._run / "ingest.sock", word, self._session))

    def _decide(self, operator: Control) -> None:
        waiting = self._waiting(operator)
        kinds = ["allow", "always", "deny", "leave"]
        self._random.shuffle(kinds)
        asked: list[tuple[int, str, str]] = []
        for request, how in zip(waiting, ["always", *kinds], strict=False):
            id, digest = request["id"], request["digest"]
            if how == "leave":
                self._promises.open[id] = digest
                continue
            more: dict[str, Any] = {"confirmed": True, "shown_ms": 1_000, "digest": digest}
            if how == "always":
                self._promises.maybe.add(id)
                more["scope"] = "always"
            decision = "deny" if how == "deny" else "allow"
            number = operator.send("decide", request=id, decision=decision, **more)
            asked.append((number, id, how))
        for number, id, how in asked:
            answer = operator.answer(number)
            assert "refused" not in answer, f"{how}: {answer}"
            if how != "deny":
                self._promises.taken.add(id)
            if how == "always":
                assert "warning" not in answer
                self._promises.surely.add(id)
                self._promises.due["grant.given"] += 1

    def _waiting(self, operator: Control) -> list[dict[str, Any]]:
        for _ in range(_TRIES):
            found: list[dict[str, Any]] = operator.ask("list")["requests"]
            if len(found) == ASKING:
                return found
        raise AssertionError(f"{ASKING} asked, and only these wait: {found}")

    def _switch(self, operator: Control) -> None:
        if self._promises.off is not False:
            self._promises.off = None
            operator.ask("on")
            self._promises.off = False
            self._promises.due["policy.on"] += 1
        elif self._random.random() < OFTEN:
            self._promises.off = None
            operator.ask("off", seconds=0)
            self._promises.off = True
            self._promises.due["policy.off"] += 1

    def _take_back(self, operator: Control) -> None:
        given = sorted(self._promises.surely)
        if len(given) > GRANTS_KEPT:
            grant = given[0]
            self._promises.surely.discard(grant)
            answer = operator.ask("revoke", grant=grant)
            assert answer == {"grant": grant}
            self._promises.maybe.discard(grant)
            self._promises.due["grant.revoked"] += 1

    def _purge(self, operator: Control) -> None:
        """Drops what is kept of an earlier core's session; it may have left the journal by age."""
        sessions = sorted(self._promises.sessions)
        self._promises.sessions.add(self._session)
        if sessions and self._random.random() < OFTEN:
            session = sessions[-1]
            answer = operator.ask("purge", agent="claude", session=session)
            assert answer.get("refused", "unknown_id") == "unknown_id", answer
            self._promises.purged.add(session)
