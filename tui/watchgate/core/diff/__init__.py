"""What a call changes in files, as lines: what the screen draws and the report prints."""
