"""The panes of the Costs screen: overview, charts, the table of sessions, one session's page."""
