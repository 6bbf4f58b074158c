"""The journal: one file of records, who writes it, reads it, keeps it small and verifies it."""
