"""One deterministic scripted feed: the first run, screenshots, snapshots and load tests use it."""
