"""Perl as `perl -e`, `-n` and `-p` are given it."""
