"""Import of agents' permission rules: read from their files and translated into our rules."""
