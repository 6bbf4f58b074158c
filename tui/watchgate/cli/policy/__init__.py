"""`policy`: checks, explains, tests and imports rules, and judges the past by others."""
