"""What every single move must obey; a law that is broken raises `AssertionError`.

The laws compare the situation before with the one after, and never ask the engine whether it was
right: who may be allowed what is worked out here from the move, the deadline and what was held.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.core.gate.exploration.cast import short
from tests.core.gate.exploration.moves import Move, Refusal, moves
from tests.core.gate.exploration.situation import Situation
from watchgate.core.gate.effects import Effect, Emit, Send, SyncJournal
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Lane
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

_ENDS = ("approval.decided", "effect.undelivered")
_TELLS: dict[str, type[Reply]] = {
    "denied-by-operator": SayDeny,
    "handed-back-by-operator": SayNothing,
}


def hold(before: Situation, move: Move, after: Situation, effects: list[Effect]) -> None:
    """Every law about one move; also notes in `after` which connections are done with."""
    was, now = before.requests(), after.requests()
    for request_id in was:
        assert request_id in now, f"{short(request_id)} was forgotten"
    for request in now.values():
        _settled_once(was.get(request.id), move, request, before, effects)
    _answers(before, move, after, effects)
    _books(after)
    if move.what == "expire":
        open_yet = after.broker.open.values()
        over = [short(each.id) for each in open_yet if each.deadline_s <= after.now.mono_s]
        assert not over, f"past their deadline and still open: {over}"


def _settled_once(
    was: ApprovalRequest | None,
    move: Move,
    now: ApprovalRequest,
    before: Situation,
    effects: list[Effect],
) -> None:
    name, status = short(now.id), Status.PENDING if was is None else was.status
    kinds = [word for word, _ in _told_of(now, effects)]
    if was is not None and not was.open:
        same = (was.status, was.settlement) == (now.status, now.settlement)
        assert same, f"{name} was settled and became {now.status}"
        assert "approval.decided" not in kinds, f"{name} is recorded as decided again"
        return
    assert kinds.count("approval.requested") == (was is None), f"{name} is not recorded as asked"
    decided = status is Status.PENDING and now.status is not Status.PENDING
    assert kinds.count("approval.decided") == decided, f"{name} is {now.status}, recorded {kinds}"
    undone = status is Status.COMMITTING and now.status not in (Status.COMMITTING, Status.ALLOWED)
    assert kinds.count("effect.undelivered") == undone, f"{name} is {now.status}, recorded {kinds}"
    for kind, word in _told_of(now, effects):
        if kind in _ENDS:
            assert word == now.ending.word, f"{name} ended as {now.ending.word}, recorded {word}"
    sent = [n for n, e in enumerate(effects) if isinstance(e, Send) and e.request == now.id]
    wrote = [n for n, e in enumerate(effects) if isinstance(e, Emit) and _is_end(e, now)]
    assert max(wrote, default=-1) < min(sent, default=len(effects)), f"{name} is told, then written"
    if status is Status.PENDING and now.status is Status.COMMITTING:
        _rightly_committing(was, move, now, before, effects)
    if now.status is Status.ALLOWED:
        in_time = before.now.mono_s < now.deadline_s
        told = move == Move("written", 0, now.id) and status is Status.COMMITTING and in_time
        assert told, f"{name} is allowed though it was {status} and {move}"


def _rightly_committing(
    was: ApprovalRequest | None,
    move: Move,
    now: ApprovalRequest,
    before: Situation,
    effects: list[Effect],
) -> None:
    name = short(now.id)
    assert effects.count(SyncJournal(now.id)) == 1, (
        f"{name} is allowed without waiting for the disk"
    )
    at = next(n for n, e in enumerate(effects) if isinstance(e, Emit) and _is_end(e, now))
    assert effects.index(SyncJournal(now.id)) > at, (
        f"{name} is told to be written before its record"
    )
    if now.ending.word == "allowed-by-operator":
        said = move.request == now.id and move.what in ("allow", "allow for the session")
        in_time = was is not None and before.now.mono_s < was.deadline_s
        assert said, f"{name} is allowed by nobody: {move}"
        assert in_time, f"{name} is allowed after its deadline"
        return
    given = [grant.digest for grant in before.engine.grants._exact.values()]
    if move.what == "written":
        source = before.broker.open[move.request]
        given += [source.data.digest] if source.ending.scope == "session" else []
    granted = now.ending.word == "allowed-by-grant" and now.data.digest in given
    assert granted, f"{name} is {now.ending.word} without a grant: {move}"


def _answers(before: Situation, move: Move, after: Situation, effects: list[Effect]) -> None:
    """Whoever waits for what ended is answered once, and nobody else."""
    if move.what == "asks":
        after.at[move.conn] = "waits"
    if move.what in ("hangs up", "fails"):
        after.at[move.conn] = "over"
    now = after.requests()
    for effect in effects:
        if not isinstance(effect, Send):
            continue
        if move == Move("fails", effect.conn):
            # It was answered closed before the engine was told, and whoever serves it drops this.
            assert not isinstance(effect.reply, SayAllow), f"{effect.conn} failed and is allowed"
            continue
        there = after.at.get(effect.conn) == "waits"
        assert there, f"connection {effect.conn} does not wait and is told {effect.reply}"
        after.at[effect.conn] = "over"
        if effect.request is None:
            # Only what a call brings about on its own arrival, or what ends it past us.
            assert not isinstance(effect.reply, SayAllow), f"{effect.conn} is allowed by nobody"
            closed = effect.event.lane is Lane.GATE
            assert isinstance(effect.reply, SayDeny) or not closed, f"{effect.conn} is let go"
            continue
        _says_what_it_is(effect, now[effect.request])
        _reported(after, effect)


def _says_what_it_is(send: Send, request: ApprovalRequest) -> None:
    name, reply = short(request.id), send.reply
    assert not request.open, f"{name} is {request.status} and connection {send.conn} is told"
    word = request.ending.word
    if word in ("allowed-by-operator", "allowed-by-grant") and request.status is Status.ALLOWED:
        wanted: type[Reply] = SayAllow
    else:
        wanted = _TELLS.get(word, SayDeny if send.event.lane is Lane.GATE else SayNothing)
    assert type(reply) is wanted, f"{name} ended as {word}, connection {send.conn} is told {reply}"
    if isinstance(reply, SayAllow):
        assert send.event.tool is not None
        same = send.event.tool.input_hash == request.data.tool.input_hash
        assert same, f"{name} allows connection {send.conn} another call"


def _reported(after: Situation, send: Send) -> None:
    """What became of an answer is recorded in the word it was given in, and changes nothing."""
    request = after.requests()[send.request or ""]
    ends = (request.status, request.settlement)
    (told,) = after.engine.sent(request.id, True, after.now)
    assert isinstance(told, Emit)
    assert (told.draft.kind, told.draft.data.word) == ("effect.sent", request.ending.word)
    after.engine.sent(request.id, False, after.now)
    assert ends == (request.status, request.settlement)


def _books(after: Situation) -> None:
    """Nobody who waits is lost, and nobody else is kept."""
    waits = {conn for conn, at in after.at.items() if at == "waits"}
    held = [waiter.conn for each in after.broker.open.values() for waiter in each.waiters]
    assert sorted(held) == sorted(waits), f"{sorted(waits)} wait, {sorted(held)} are waited for"
    for conn in after.at:
        of = after.broker.of_conn(conn)
        assert (of in after.broker.open) == (conn in waits), f"connection {conn} waits for {of}"
    for request in after.broker.open.values():
        assert request.open, f"{short(request.id)} is kept as open and {request.status}"
        assert request.waiters, f"{short(request.id)} is open and nobody waits for it"
        for event in [each.event for each in request.waiters if each.event.lane is Lane.GATE]:
            own_s = (
                event.at.mono_s + (event.deadline_s or 0) - after.engine.config.approval.margin_s
            )
            assert request.deadline_s <= own_s, f"{short(request.id)} outlasts a client that waits"
    due = [each.deadline_s for each in after.broker.open.values()]
    assert after.broker.next_deadline() == min(due, default=None)
    assert not (after.stopped and after.broker.open), "the core stopped, and requests are open"


def refuse(now: Situation, wanted: Refusal) -> None:
    """The decision is refused in its word, with how it was decided; what changed is for others."""
    refused: Refused | None = None
    try:
        now.broker.decide(wanted.request, wanted.said, now.now)
    except Refused as fault:
        refused = fault
    assert refused, f"{wanted}, and it is taken, where {wanted.code} was due"
    assert refused.code == wanted.code, f"{wanted}: {refused.code}, not {wanted.code}"
    request = now.requests().get(wanted.request)
    if wanted.code == "already_settled" and request is not None:
        assert refused.settlement == request.settlement, f"{wanted}: another's settlement"


def changes_nothing(now: Situation, refused: list[Refusal]) -> None:
    """All that is late, wrong or said twice leaves everything as it was."""
    form, ends = now.form(), _ends(now)
    for each in refused:
        refuse(now, each)
    for request in now.requests().values():
        if not request.open:
            for ok in (True, False):
                late = now.engine.committed(request.id, ok, now.now)
                assert late == [], f"{short(request.id)} is settled, and writing it does {late}"
    assert (form, ends) == (now.form(), _ends(now)), "a refused decision changed something"


def ends_well(now: Situation) -> None:
    """Where nothing can happen any more, everybody has an answer or went away."""
    if next(moves(now), None) is not None:
        return
    assert not now.broker.open, f"never settled: {[short(each) for each in now.broker.open]}"
    assert "waits" not in now.at.values(), f"never told: {now.at}"


def _ends(now: Situation) -> list[tuple[object, ...]]:
    return [(each.id, each.status, each.settlement) for each in now.requests().values()]


def _told_of(request: ApprovalRequest, effects: list[Effect]) -> Iterator[tuple[str, str]]:
    for effect in effects:
        if isinstance(effect, Emit) and effect.draft.request == request.id:
            yield effect.draft.kind, getattr(effect.draft.data, "word", "")


def _is_end(effect: Emit, request: ApprovalRequest) -> bool:
    return effect.draft.kind in _ENDS and effect.draft.request == request.id
