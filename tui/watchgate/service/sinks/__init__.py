"""Copies of records for other programs; none of them can slow or change a decision."""
