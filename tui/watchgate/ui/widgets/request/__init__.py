"""One request or call in full: text, findings, facts and input, as lines and as panes."""
