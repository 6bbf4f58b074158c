"""How each agent is set up and started in a throw-away place."""
