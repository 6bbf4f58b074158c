"""What the transcripts and databases of agents tell of usage: one file per agent, all pure."""
