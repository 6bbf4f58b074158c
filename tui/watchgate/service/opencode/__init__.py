"""OpenCode's side of things that is not pure: the plugin's file and the client of its stream."""
