"""A hook client that posts each event to a server on loopback, with what one imports for that."""

import argparse
import json
import sys
import urllib.request
from datetime import UTC, datetime


def main() -> int:
    """Posts the event; prints the answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    given = parser.parse_args()
    event = json.load(sys.stdin)
    told = {"event": event, "at": datetime.now(UTC).isoformat()}
    data = json.dumps(told).encode()
    with urllib.request.urlopen(given.url, data, timeout=5) as answer:  # noqa: S310 - on loopback
        sys.stdout.write(answer.read().decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
