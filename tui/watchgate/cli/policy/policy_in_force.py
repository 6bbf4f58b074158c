"""The policy that a core would use for this user, or with another file in the place of theirs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import configured, here
from watchgate.cli.base.printing import Stop, complain

if TYPE_CHECKING:
    from watchgate.core.gate.policy_gate import PolicyGate
    from watchgate.core.lookback.lookback_fold import Lookback
    from watchgate.core.model.assessment import Assessment
    from watchgate.core.policy.judging.rule_examples import Case
    from watchgate.core.policy.rules.load import Loaded
    from watchgate.core.policy.rules.profiles import Profile


class Force:
    """The rules of all tiers as they would be in force; a file that is wrong ends the command."""

    def __init__(self, instead: str | None = None) -> None:
        """`instead` is a file in the place of the user's own."""
        from watchgate.service.hub.core_environment import real_environment
        from watchgate.service.policies.link_finder import LinkFinder
        from watchgate.service.policies.policy_store import read_policies
        from watchgate.service.system.system_clock import SystemClock

        paths = here()
        self._config = configured(paths)
        if instead is not None and not Path(instead).exists():
            raise Stop(f"there is no file {instead}")
        self._policies = read_policies(paths, user=Path(instead) if instead else None)
        if self._policies.fault:
            raise Stop(self._policies.fault)
        self._cwd, self._home = str(Path.cwd()), str(Path.home())
        self._own = real_environment(paths).protected
        self._links = LinkFinder(self._home)
        self._clock = SystemClock()
        self._now_us = self._clock.now().wall_us
        self.took_us = 0
        """Return how long the newest assessment took."""

    def judge(self, case: Case) -> Assessment:
        """Assesses a call by the rules of now; a project's file that is wrong is complained of."""
        import msgspec

        from watchgate.core.policy.judging.assess import assess

        subject = case.subject(cwd=self._cwd, home=self._home, own=self._own)
        links = self._links(subject.tool, subject.cwd)
        subject = msgspec.structs.replace(subject, links=links)
        policy = self._policies(subject.cwd)
        began_s = self._clock.now().mono_s
        assessment = assess(subject, policy, self._now_us)
        self.took_us = round((self._clock.now().mono_s - began_s) * 1_000_000)
        while self._policies.pending_faults:
            complain(self._policies.pending_faults.pop())
        return assessment

    def does(self, assessment: Assessment) -> str:
        """Says in words what the gate would do."""
        from watchgate.cli.policy.assessment_page import does_words
        from watchgate.core.policy.rules.profiles import gate_action

        profile = self._config.profile
        auto_allow = self._config.policy.auto_allow
        action = gate_action(profile, assessment, autonomous=False, auto_allow=auto_allow)
        return does_words(profile, action)

    def gate(self, profile: Profile) -> PolicyGate:
        """A gate with these rules, and no memory of calls."""
        from watchgate.core.gate.policy_gate import PolicyGate

        return PolicyGate(
            profile,
            self._policies,
            home=self._home,
            own=self._own,
            auto_allow=self._config.policy.auto_allow,
        )

    def lookback(self, since_us: int) -> Lookback:
        """Returns the fold that adds up calls recorded since then, judged by these rules."""
        from watchgate.core.lookback.lookback_fold import Lookback
        from watchgate.core.lookback.transcript_judge import TranscriptJudge
        from watchgate.service.system.local_days import local_day

        # Of no folder: a project's own file can only tighten.
        judge = TranscriptJudge(
            self._policies(""), home=self._home, own=self._own, now_us=self._now_us
        )
        return Lookback(judge, since_us=since_us, now_us=self._now_us, day_of=local_day)

    def counts(self) -> list[tuple[str, int]]:
        """Counts the rules in force here, by the file that they are from."""
        rules = self._policies(self._cwd).rules
        return list(Counter(rule.place.rpartition(":")[0] for rule in rules).items())

    def ids(self) -> list[str]:
        """The ids of all rules, also of those that are switched off."""
        return [rule.id for file in self._files() for rule in file.file.rule]

    def rule(self, rule_id: str) -> dict[str, Any] | None:
        """One rule, with where it is from and how it is written."""
        in_force = self._policies(self._cwd).rule(rule_id)
        for file in self._files():
            for index, data in enumerate(file.file.rule):
                if data.id == rule_id:
                    return {
                        "id": data.id,
                        "decision": data.decision,
                        "risk": in_force.risk if in_force else data.risk,
                        "reason": data.reason,
                        "suggest": data.suggest,
                        "always_ask": data.always_ask,
                        "tier": file.tier,
                        "place": file.place(index),
                        "in_force": in_force is not None,
                        "toml": _written(file, index),
                    }
        return None

    def _files(self) -> list[Loaded]:
        """Every file in force here, the project's too, as they stand on the disk."""
        from watchgate.service.policies.policy_files import read_policy_file, shipped_files

        self._policies(self._cwd)
        policy_files = (
            read_policy_file(Path(origin), tier) for origin, tier in self._policies.files
        )
        return [*shipped_files(), *(file for file in policy_files if file is not None)]


def _written(file: Loaded, index: int) -> str:
    """A rule as it stands in its file."""
    lines = file.source.entry("rule", index).text.splitlines()
    return "\n".join(line for line in lines if line.strip()) + "\n"
