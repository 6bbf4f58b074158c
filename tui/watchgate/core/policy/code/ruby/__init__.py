"""Ruby as `ruby -e`, `-n` and `-p` are given it."""
