"""JavaScript as `node -e`, `bun -e` and `deno eval` are given it."""
