"""A shell text read into commands: words, redirects, wrappers, and what could not be read."""
