"""Commands on the core: `serve`, `status`, `stop`, `off`, `on`, `service`."""
