"""Installing where an agent takes us in as a plugin: one folder, and nothing of the user's."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from watchgate.cli.output import say
from watchgate.cli.place import here


def install(args: argparse.Namespace, agent: str, profile: str, python: Path) -> None:
    """Write the plugin, or say with `--dry-run` which files that would be; raises `Refusal`."""
    from watchgate.service.setup import synaps_plugin

    _for_the_user(args)
    places = here()
    if args.dry_run:
        for name in synaps_plugin.contents(places, profile, python):
            say(f"{agent}: would write {synaps_plugin.folder(os.environ) / name}")
        return
    target = synaps_plugin.install(os.environ, places, profile, python)
    say(f"{agent}: plugin written to {target}; SynapsCLI loads it when it starts next")
    if profile == "watch":
        say("Profile watch: tool calls are recorded, NOT GATED; after changing it install again.")
    else:
        say("SynapsCLI waits 5 s for a plugin and then runs the call: what nobody allows within")
        say("4 s is blocked. `watchgate tail agent:synaps` shows what it does.")


def uninstall(args: argparse.Namespace, agent: str) -> None:
    """Remove the plugin; raises `Refusal`."""
    from watchgate.service.setup import synaps_plugin

    _for_the_user(args)
    target = synaps_plugin.folder(os.environ)
    if args.dry_run and target.exists():
        say(f"{agent}: would remove {target}")
    elif args.dry_run:
        say(f"{agent}: no plugin of watchgate in {target}")
    elif synaps_plugin.uninstall(os.environ):
        say(f"{agent}: {target} is gone; sessions that run now keep it until they end")
    else:
        say(f"{agent}: no plugin of watchgate in {target}")


def _for_the_user(args: argparse.Namespace) -> None:
    from watchgate.service.setup.targets import Refusal

    if args.scope != "user":
        raise Refusal("a plugin in a project would run this machine's paths: use --scope user")
