"""The policies in force: the shipped files, and those of admin, user and project."""
