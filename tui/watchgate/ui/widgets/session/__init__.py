"""Sessions: the list of live ones, and one as a page with its agents as a tree."""
