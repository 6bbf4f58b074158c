"""One file per agent: bytes to events, replies to bytes."""
