"""A real core with directories of its own, and what its journal says after a fault."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.conftest import places
from tests.crash.clients import Control
from tests.e2e.programs import until
from tests.faults.words import Where
from watchgate.core.model.records import Record
from watchgate.link.paths import Paths
from watchgate.service.journal import journal_reader
from watchgate.service.journal.verification import verify_journal
from watchgate.service.setup import hook_client

ROOT = Path(__file__).parents[2]
PYTHON = str(getattr(sys, "_base_executable", sys.executable))
APART = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


class World:
    """Directories, the installed hook client, and `watchgate serve` where one is wanted."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.top = Path(tempfile.mkdtemp(prefix="wgf", dir="/tmp"))
        run, state = self.top / "run", self.top / "state"
        self.env = os.environ | places(self.top, self.top, run, state)
        self.env["WATCHGATE_TEST_CLOCK"] = str(self.top / "clock")
        self.paths = Paths(
            runtime_dir=run,
            state_dir=state,
            config=Path(self.env["WATCHGATE_CONFIG"]),
            data_dir=self.top / "data" / "watchgate",
        )
        self.paths.config.parent.mkdir(parents=True)
        self.paths.config.write_text(where.config.replace("@", str(self.top)))
        (self.top / "home").mkdir()
        self.paths.data_dir.mkdir(mode=0o700, parents=True)
        hook_client.write_copy(self.paths)
        hook_client.renew_bytecode(self.paths, Path(PYTHON))
        self.journal: Path | None = self.paths.journal
        """Where it is looked for after the fault; None where there is none to look at."""
        self.keeps = True
        """Whether its core can write it and say so."""
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def lives(self) -> bool:
        """Whether its core runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def mounted(self) -> Path:
        """The state directory as the core sees it, where one was mounted for it."""
        return Path(f"/proc/{self.pid}/root{self.paths.state_dir}")

    @property
    def pid(self) -> int:
        """The core's."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Has a core that serves; one that does already stays."""
        if self.lives:
            return
        self.bury()
        flaw = self.where.flaw
        serve = ["tests.faults.flawed", flaw, "serve"] if flaw else ["watchgate", "serve"]
        command = [sys.executable, "-m", *serve]
        if self.where.mount:
            self.paths.state_dir.mkdir(mode=0o700, exist_ok=True)
            command = [*APART, "sh", "-c", f'{self.where.mount}\nexec "$@"', "sh", *command]
        with (self.top / "stderr").open("wb") as err:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
            )
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            raise AssertionError((self.top / "stderr").read_text())

    def bury(self) -> None:
        """Has no core."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def signal(self, number: signal.Signals) -> None:
        """Sends the core a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def operator(self) -> Control:
        """A control client."""
        path = self.paths.control_socket
        return Control(Path(f"/proc/{self.pid}/root{path}") if self.where.mount else path)

    def ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        """What the core answers to one request."""
        with self.operator() as operator:
            return operator.ask(verb, **fields)

    def held(self, session: str) -> dict[str, Any] | None:
        """The request that waits in this session."""
        found = self.ask("list").get("requests", [])
        return next((each for each in found if each["session"] == session), None)

    def newest(self) -> int:
        """The number of the last record so far."""
        self._to_disk()
        if self.journal is None or not self.journal.exists():
            return 0
        return verify_journal(self.journal).head.seq

    def records(self, after: int) -> list[Record]:
        """What was recorded since; the journal verifies and holds no allow."""
        self._to_disk()
        if self.journal is None or not self.journal.exists():
            return []
        verdict = verify_journal(self.journal)
        assert verdict.problem is None, verdict.problem
        records = list(journal_reader.read(self.journal, after + 1, verdict.head.seq))
        allows = [record for record in records if '"allowed-' in json.dumps(record.data)]
        assert not allows, f"an allow is on record: {allows}"
        return records

    def saw(self, session: str, after: int) -> bool:
        """Whether anything of this session is on record."""
        return any(record.session == session for record in self.records(after))

    def saw_unread(self, native: str, after: int) -> bool:
        """Whether it is on record that an event of this name could not be read."""
        return any(r.kind == "unknown" and r.data["native"] == native for r in self.records(after))

    def end(self) -> None:
        """Leaves nothing behind."""
        self.bury()
        shutil.rmtree(self.top, ignore_errors=True)

    def _to_disk(self) -> None:
        if self.lives and self.keeps:
            until(lambda: "records" in self.ask("history", from_seq=1), "what is on the disk")
        if self.where.mount and self.lives and self.journal is not None:
            self.journal = self._copy()

    def _copy(self) -> Path:
        """The journal where this process can look at it: the mount is seen by the core alone."""
        copy = Path(tempfile.mkdtemp(dir=self.top))
        for name in ("journal.db", "journal.db-wal", "journal.head"):
            file = self.mounted / name
            if file.exists():
                shutil.copy(file, copy / name)
        return copy / "journal.db"
