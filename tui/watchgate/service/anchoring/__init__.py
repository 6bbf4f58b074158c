"""Anchors of the journal that are kept by others, as they become due."""
