"""Commands on this machine: `install`, `uninstall`, `config`, `guard`, `doctor`, `agent`."""
