"""Tables of programs that fetch, decode, unpack or fill files, or run what is in them.

One table for a file that is run in the call that fills it and for one that is run later.
"""

from __future__ import annotations

from typing import Final

from watchgate.core.policy.shell.words import names

FETCHERS: Final = names("curl wget wget2 aria2c axel")
"""Without a name of its own a file is called as the last part of its address."""

DECODERS: Final = names(
    "base64 base32 basenc xxd uudecode openssl gpg age gzip gunzip zstd xz bzip2 unxz bunzip2"
)
CARRIERS: Final = names("http https xh scp sftp nc ncat socat")
"""They bring files from other machines, under names that they are given."""

FILLERS: Final = FETCHERS | DECODERS | CARRIERS | names("tee sponge dd")
"""They fill the files that they name; others change, copy or mark what was there."""

SOURCES: Final = FETCHERS | DECODERS | CARRIERS
"""Programs whose output comes from elsewhere, or was hidden."""

UNPACKERS: Final = names("tar bsdtar gtar unzip 7z 7za 7zz unar bsdcpio")

BUILDERS: Final = names(
    """make gmake cmake ninja just task npm pnpm yarn bun npx bunx pnpx deno pip pip3 pipx uv poetry
    pdm hatch tox nox pytest cargo go gradle gradlew mvn mvnw ant bazel sbt mix rake bundle gem
    rails composer dotnet swift meson scons cabal stack nix-build docker-compose pre-commit
    invoke"""
)
"""They run code that stands in the files of a folder."""

INSTALLERS: Final = names("dpkg rpm installer apt apt-get dnf yum zypper apk pacman snap open")
"""They run code of the package that they are given."""
