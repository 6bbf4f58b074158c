"""The changes of an edit: as lines, and as a section of a request."""
