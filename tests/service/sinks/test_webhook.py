from __future__ import annotations

import json

import anyio
import pytest

from tests.service.sinks.parts import LARGE, answering, lines, record, running, sink
from tests.service.wire_frames import WAIT_S, until
from watchgate.service.sinks import sink as module
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.record_lines import as_codewhale
from watchgate.service.sinks.webhook import Webhook, WebhookTries

SHORT = WebhookTries(pauses_s=(0.0, 0.0), request_s=1.0)


class Pauses:
    """A sleep that takes no time and is written down."""

    def __init__(self) -> None:
        self.taken_s: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken_s.append(seconds)


async def failure(hook: Webhook, count: int = 1) -> Undelivered:
    with pytest.raises(Undelivered) as fault, anyio.fail_after(WAIT_S):
        await hook.send(lines(count))
    return fault.value


async def test_a_record_is_posted_as_json() -> None:
    async with answering() as server:
        await Webhook(server.url).send(lines(1))
    (request,) = server.requests
    head = request.partition(b"\r\n\r\n")[0].decode()
    assert head.startswith("POST /in?key=k HTTP/1.1\r\n")
    assert "Content-Type: application/json" in head
    assert json.loads(server.bodies[0])["seq"] == 1


async def test_a_record_that_is_several_events_is_posted_one_event_at_a_time() -> None:
    entry = as_codewhale(record(1, kind="tool.pre", gate="denied"))
    async with answering() as server:
        await Webhook(server.url).send([entry])
    types = [json.loads(body)["event"]["type"] for body in server.bodies]
    assert types == ["tool_lifecycle", "approval_lifecycle", "generic_event_frame"]


@pytest.mark.parametrize("status", [200, 201, 204, 299])
async def test_cw_12_any_2xx_is_enough(status: int) -> None:
    async with answering(status) as server:
        await Webhook(server.url, sleep=Pauses()).send(lines(1))
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 400, 404, 500, 503])
async def test_cw_12_anything_else_is_tried_twice_more_after_200_and_400_ms(status: int) -> None:
    pauses = Pauses()
    async with answering(status, status, status) as server:
        fault = await failure(Webhook(server.url, sleep=pauses))
    assert len(server.requests) == 3
    assert pauses.taken_s == [0.2, 0.4]
    assert fault.then == "drop"
    assert fault.why == f"{server.url.partition('/in')[0]} answered {status}"


async def test_cw_12_a_retry_that_succeeds_is_a_delivery() -> None:
    pauses = Pauses()
    async with answering(500) as server:
        await Webhook(server.url, sleep=pauses).send(lines(1))
    assert len(server.requests) == 2
    assert pauses.taken_s == [0.2]


async def test_cw_12_a_transport_error_counts_as_a_failure() -> None:
    async with answering() as server:
        url = server.url
    pauses = Pauses()
    fault = await failure(Webhook(url, sleep=pauses))
    assert "Connection refused" in fault.why
    assert pauses.taken_s == [0.2, 0.4]


async def test_cw_12_a_request_that_is_not_answered_is_broken_off_and_tried_again() -> None:
    async with answering(None, None) as server:
        with anyio.fail_after(WAIT_S):
            await Webhook(server.url, SHORT).send(lines(1))
        assert len(server.requests) == 3


def test_cw_12_a_request_may_take_10_s() -> None:
    assert WebhookTries() == WebhookTries(pauses_s=(0.2, 0.4), request_s=10.0)


async def test_cw_b6_all_tries_of_an_event_share_one_deadline() -> None:
    worst_s = 3 * WebhookTries().request_s + sum(WebhookTries().pauses_s)
    assert WebhookTries().total_s < worst_s / 2
    async with answering(None, None, None) as server:
        fault = await failure(Webhook(server.url, WebhookTries(request_s=60, total_s=0.5)))
        assert len(server.requests) < 2
    assert fault.why.endswith("does not answer; given up after 0.5 s")


async def test_cw_b6_a_server_that_hangs_delays_neither_the_emitter_nor_what_comes_after() -> None:
    async with answering(None) as server:
        each = sink(Webhook(server.url, WebhookTries((), request_s=1.0)), queue=5)
        async with running(each):
            each.offer(record(1))
            await until(lambda: server.requests, "the first is on its way")
            for seq in range(2, 52):
                each.offer(record(seq, size=LARGE))
            await until(lambda: each.counters.sent == 5, "what is left is delivered")
        assert [json.loads(body)["seq"] for body in server.bodies] == [1, 47, 48, 49, 50, 51]
    assert (each.counters.failed, each.counters.dropped) == (1, 45)


async def test_a_server_that_hangs_is_let_go_when_the_sink_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    async with answering(None) as server:
        each = sink(Webhook(server.url))
        async with running(each):
            each.offer(record(1))
            await until(lambda: server.requests, "it is on its way")
    assert each.counters.dropped == 1


async def test_neither_the_path_nor_the_query_of_a_url_is_told() -> None:
    async with answering(500, 500, 500) as server:
        fault = await failure(Webhook(server.url, SHORT))
    assert "key" not in fault.why
