"""Newer prices from a server: taken whole, or nothing changes and the reason is said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.prices.tables import DAY_US, NOW_US, call, keep, model, provider
from watchgate.link.paths import paths
from watchgate.service.prices import price_updates
from watchgate.service.prices.price_files import FETCHED, read_fetched
from watchgate.service.prices.price_updates import UpdateError, fetch_if_old, fetch_prices
from watchgate.service.prices.prices import Prices

PRICES = {"input_mtok": 3, "output_mtok": 15}
Serve = Callable[..., str]


def table(size: int = 1_200, **prices: Any) -> list[dict[str, Any]]:
    """One with as many models as are needed for it to be believed."""
    novas = [model(f"nova-{number}", PRICES | prices) for number in range(size)]
    return [
        provider("anthropic", "nova", *novas),
        provider("openai", "gpt"),
        provider("google", "gemini"),
    ]


class _Handler(BaseHTTPRequestHandler):
    body = b""
    status = 200
    gate: threading.Event | None = None

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        # Who has given up no longer reads.
        with suppress(OSError):
            self.wfile.write(self.body[:1])
            if self.gate is not None:
                self.gate.wait(30)
            self.wfile.write(self.body[1:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers every request on this machine alone with what is given; returns the address."""
    running = []
    gate = threading.Event()

    def start(body: Any, *, status: int = 200, stalls: bool = False) -> str:
        raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
        told = {"body": raw, "status": status, "gate": gate if stalls else None}
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), told))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/data.json"

    yield start
    gate.set()
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def test_fetched_prices_are_kept_whole_and_used(serve: Serve, tmp_path: Path) -> None:
    place = tmp_path / "data" / "prices.json"
    url = serve(table(more_to_come="5"))
    fetch_prices(place, NOW_US, url=url)
    kept = read_fetched(place)
    assert kept is not None
    assert (kept.fetched_us, kept.url) == (NOW_US, url)
    assert bytes(kept.providers) == msgspec.json.encode(table(more_to_come="5"))
    assert Prices(fetched=place, now_us=NOW_US).tariff_of(call("nova-7")) is not None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "no table of prices"),
        (b"<html>a captive portal</html>", "no table of prices"),
        (b"[" * 100_000, "no table of prices"),
        ({"providers": []}, "no list of providers"),
        ([], "lacks anthropic, google, openai"),
        ([{"id": "anthropic"}], "not built as a table"),
        (table(size=3), "has 3 models"),
        (table(input_mtok=-1), "are no price"),
        (table(input_mtok=1e12), "are no price"),
        (table(input_mtok="three"), "not built as a table"),
    ],
)
def test_an_odd_download_changes_nothing(serve: Serve, tmp_path: Path, body: Any, why: str) -> None:
    place = tmp_path / "prices.json"
    keep(place, table())
    before = place.read_bytes()
    with pytest.raises(UpdateError, match=why):
        fetch_prices(place, NOW_US, url=serve(body))
    assert place.read_bytes() == before


def test_an_answer_that_is_an_error_is_not_taken(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(UpdateError, match="answered 503"):
        fetch_prices(tmp_path / "data" / "prices.json", NOW_US, url=serve(table(), status=503))
    assert not (tmp_path / "data").exists()


def test_a_server_that_is_not_there_is_said(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(UpdateError, match="cannot be reached"):
        fetch_prices(tmp_path / "prices.json", NOW_US, url="http://127.0.0.1:1/data.json")


def test_a_server_that_stalls_is_given_up(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(UpdateError, match=r"took longer than|cannot be reached"):
        fetch_prices(tmp_path / "p.json", NOW_US, url=serve(table(), stalls=True), timeout_s=0.05)


def test_too_long_in_all_is_too_long(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(UpdateError, match=r"took longer than|cannot be reached"):
        fetch_prices(tmp_path / "prices.json", NOW_US, url=serve(table()), timeout_s=0)


def test_too_much_is_not_read_to_its_end(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(price_updates, "MAX_BYTES", 2_000)
    with pytest.raises(UpdateError, match="sends more"):
        fetch_prices(tmp_path / "prices.json", NOW_US, url=serve(table()))


def test_a_folder_that_cannot_be_written_is_said(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UpdateError, match="cannot be written"):
        fetch_prices(tmp_path / "file" / "prices.json", NOW_US, url=serve(table()))


def test_prices_are_fetched_by_themselves_once_a_day(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    here = paths({"WATCHGATE_STATE_DIR": str(tmp_path), "WATCHGATE_RUNTIME_DIR": "/run/w"})
    assert here.data_dir.is_relative_to(tmp_path)
    url = serve(table())
    said = [fetch_if_old(here, NOW_US + day * DAY_US // 2, url=url) for day in range(4)]
    assert said == ["prices were updated", "", "prices were updated", ""]
    assert read_fetched(here.data_dir / FETCHED) is not None


def test_a_failed_update_is_said(serve: Serve, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    here = msgspec.structs.replace(paths({"WATCHGATE_RUNTIME_DIR": "/run/w"}), data_dir=data_dir)
    said = fetch_if_old(here, NOW_US, url=serve([]))
    assert said.startswith("prices were not updated: ")
    assert not data_dir.exists()
