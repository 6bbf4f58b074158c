"""Where the policy comes from: the shipped files, and those of admin, user and project."""
