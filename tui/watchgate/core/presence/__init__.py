"""Which proof of a person a decision carries, and what it is good for."""
