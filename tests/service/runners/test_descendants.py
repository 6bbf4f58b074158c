"""What detaches itself from a hook stays below the core, and ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="adoption is Linux's")

# A process of its own: whoever takes orphans in must start nothing but hooks.
KEEPER = """
import os, subprocess, sys, time
from watchgate.service.runners.descendants import Orphans, adopt_orphans
place = sys.argv[1]
script = f"setsid sh -c 'echo $$ > {place}; sleep 300' >/dev/null 2>&1 & exit 0"
with adopt_orphans() as adopts:
    assert adopts
    subprocess.run(["sh", "-c", script])
    while not os.path.exists(place) or not open(place).read().strip():
        time.sleep(0.01)
    orphan = int(open(place).read())
    while True:
        parent = open(f"/proc/{orphan}/stat").read().rpartition(") ")[2].split()[1]
        if int(parent) == os.getpid():
            break
        time.sleep(0.01)
    if sys.argv[2] == "reap":
        os.kill(orphan, 9)
        orphans = Orphans()
        while os.path.exists(f"/proc/{orphan}"):
            orphans.reap()
            time.sleep(0.01)
print(orphan)
"""


@pytest.mark.parametrize("how", ["end", "reap"])
def test_core_8_an_orphan_of_a_hook_is_taken_in_and_gone_in_the_end(
    tmp_path: Path, how: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KEEPER, str(tmp_path / "pid"), how],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not Path(f"/proc/{int(done.stdout)}").exists()
