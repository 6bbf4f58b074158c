"""Identity at the control socket, and proof of a person: standing, PIN, key, codes, tokens."""
