"""A hook client as one writes it first: json and socket, as a script or a console script."""

import json
import socket
import sys


def main() -> int:
    """Sends the event on, prints the answer."""
    event = json.load(sys.stdin)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps(event).encode())
        connection.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: connection.recv(65536), b""))
    sys.stdout.write(said.decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
