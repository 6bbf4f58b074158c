"""Files that matter wherever they lie: secrets, hook settings, and what runs by itself later."""

from __future__ import annotations

import re

from watchgate.core.policy.folders import Place

SECRETS = re.compile(
    r"""(?x)
      (?: ^ | [/=@:,] )
      (?: \.env (?: rc | \* | \. (?! example | sample | template | dist | defaults )[\w*.-]+ )?
        | \.netrc | \.pgpass | \.git-credentials | \.npmrc | \.pypirc | \.htpasswd | \.my\.cnf
        | id_ (?: rsa | dsa | ecdsa | ed25519 )
        | [\w-][\w.-]* \. (?: pem | key | p12 | pfx | jks | kdbx | keystore )
        | \*\. (?: pem | key )
        | \.docker/config\.json | \.cargo/credentials(?:\.toml)? | \.terraformrc
        | credentials\.json | service[-_]account[\w-]*\.json
      ) $
    | (?: ^ | [/=@:,] ) \. (?: aws | gnupg | kube | azure ) (?: / | $ )
    | (?: ^ | [/=@:,] ) \.ssh (?: $ | / (?! known_hosts | [\w.-]+\.pub $ ) )
    | \.config/ (?: gcloud | gh/hosts ) | ^ /etc/ (?: shadow | sudoers )
    | ^ /proc/ [^/]+ /environ $
    """
)
_HOOK_SETTINGS = re.compile(
    r"(?:^|/)(?:\.claude/settings[\w.-]*\.json|\.codex/(?:hooks\.json|config\.toml))$"
)
_END = r"(?: \} | : [^}]* \} )?"
_BY_VARIABLE = re.compile(
    rf"""(?x)
      ^ \$ \{{? (?:
        WATCHGATE_ (?: RUNTIME_DIR | STATE_DIR | CONFIG ) {_END} (?: / | $ )
      | XDG_ (?: RUNTIME_DIR | (?: STATE | CONFIG | DATA ) _HOME ) {_END} /+ watchgate (?: / | $ )
      | CLAUDE_CONFIG_DIR {_END} /+ settings [\w.-]* \.json $
      | CODEX_HOME {_END} /+ (?: hooks\.json | config\.toml ) $
      )
    """
)
_RUNS_LATER = re.compile(
    r"""(?x)
      (?: ^ | / )
      (?: \.git/hooks/ .+ | \.git/config | \.gitconfig | \.husky/ .+ | \.pre-commit-config\.yaml
        | \.github/workflows/ .+ | \.gitlab-ci\.yml | \.circleci/ .+ | Jenkinsfile
        | \. (?: bash_profile | bash_login | bashrc | profile | zshrc | zshenv | zprofile | zlogin
               | inputrc | envrc | xprofile | xinitrc )
        | \.config/ (?: fish | systemd | autostart ) / .+
        | \.vscode/ (?: tasks | launch | settings ) \.json
        | \.ssh/ .+ | LaunchAgents/ .+
      ) $
    | ^ /etc/ | ^ /var/spool/cron/
    """
)
_RAW_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk\d|mapper/|dm-|md\d|loop\d|zvol/|mem$|kmem$)"
)


def secret(place: Place, path: str) -> bool:
    """Whether a path is one that usually holds keys, tokens or passwords."""
    return bool(SECRETS.search(path) or SECRETS.search(place.resolve(path)))


def hook_settings(place: Place, path: str) -> bool:
    """Whether a path is ours, or a settings file in which an agent keeps its hooks."""
    if _BY_VARIABLE.search(path) or _BY_VARIABLE.search(place.resolve(path)):
        return True
    return place.is_own(path) or bool(_HOOK_SETTINGS.search(place.resolve(path)))


def runs_later(place: Place, path: str) -> bool:
    """Whether a file runs by itself later: git hooks, CI, shell start-up, system settings."""
    return bool(_RUNS_LATER.search(place.resolve(path)))


def raw_device(place: Place, path: str) -> bool:
    """Whether a path is a disk, a partition or memory itself."""
    return bool(_RAW_DEVICE.match(place.resolve(path)))
