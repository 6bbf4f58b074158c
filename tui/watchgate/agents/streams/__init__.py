"""The event streams of other programs: one file for each format, one for what lines leave out."""
