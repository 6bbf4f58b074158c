"""Who is at a control socket, and what proves a person: chains, standing, PIN, codes, tokens."""
