"""The words of Perl that are harmless, and those that a command stands for."""

from __future__ import annotations

from watchgate.core.policy.shell.commands import names

BEFORE_OPERAND = names(
    """print printf say if unless elsif while until for foreach return and or not xor eq ne lt gt le
    ge cmp x split join map grep sort reverse push unshift splice defined exists delete scalar die
    warn sprintf chomp else do eval my our local unlink open close system exec keys values each ref
    bless first any all none sum sum0 min max uniq shuffle reduce product Dumper"""
)
"""Words behind which a slash begins an expression."""

NO_OPERAND = names("time wantarray __LINE__ __FILE__ __PACKAGE__")
"""Words behind which a slash divides."""

HARMLESS = (
    BEFORE_OPERAND - names("unlink open system exec do eval bless")
    | NO_OPERAND
    | names(
        """shift pop length substr index rindex uc lc ucfirst lcfirst fc chop chr ord hex oct int
        abs sqrt sin cos atan2 exp log rand srand localtime gmtime eof next last redo undef exit
        sleep pos quotemeta lcfirst pack unpack vec binmode fileno seek tell read getc readline
        select BEGIN END continue strftime floor ceil fmod pow basename dirname fileparse getcwd cwd
        abs_path encode_base64 decode_base64 md5_hex sha1_hex sha256_hex decode_json encode_json
        to_json from_json timelocal gettimeofday tv_interval looks_like_number blessed reftype
        encode decode encode_utf8 decode_utf8 pairs pairkeys pairvalues uniqnum minstr maxstr notall
        croak carp confess closedir readdir stat lstat state STDIN STDOUT STDERR ARGV DATA wait
        times local"""
    )
)

METHODS = names(
    """new encode decode pretty canonical utf8 allow_nonref relaxed ymd mdy hms epoch strftime year
    mon mday hour min sec datetime strptime add subtract autoflush bcmp badd bmul bsub bstr binmode
    close slurp"""
)
CLASSES = names(
    """JSON::PP JSON JSON::XS Cpanel::JSON::XS Time::Piece Data::Dumper STDOUT STDERR STDIN
    Math::BigInt Math::BigFloat"""
)
"""Classes whose methods only compute."""

MODULES = CLASSES | names(
    """strict warnings utf8 feature integer bigint bignum constant open List::Util Scalar::Util
    POSIX Time::HiRes Time::Local MIME::Base64 Digest::MD5 Digest::SHA Encode File::Basename Cwd
    Text::Wrap Text::ParseWords Getopt::Long Carp Term::ANSIColor Unicode::Normalize locale bytes
    diagnostics vars sort less version autodie v5.10 5.010 v5.36"""
)
"""Modules that do nothing when they are loaded."""

ACTS = {
    "unlink": ("rm",),
    "rmdir": ("rmdir",),
    "mkdir": ("mkdir",),
    "rename": ("mv",),
    "chmod": ("chmod",),
    "link": ("ln",),
    "symlink": ("ln", "-s"),
    "utime": ("touch",),
    "truncate": ("tee",),
    "opendir": ("ls",),
    "chdir": ("cd",),
    "kill": ("kill",),
    "glob": ("ls",),
    "readlink": ("readlink",),
}
"""Functions, with the words before their arguments in a command that does the same."""

FIRST_ONLY = {"mkdir": 0, "truncate": 0, "opendir": 1, "chdir": 0}
"""The argument that names a path, of functions that take others too."""
