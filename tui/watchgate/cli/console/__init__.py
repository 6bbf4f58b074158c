"""Commands that open the console: `watchgate`, `attach`, `demo`, `popup`."""
