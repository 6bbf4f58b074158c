"""Changes of a call to files, as lines: the screen draws them and the report prints them."""
