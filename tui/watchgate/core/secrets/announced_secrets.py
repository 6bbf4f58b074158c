"""Secrets that something announces: a name before `=` or `:`, a header, an address, a block's mark.

A row's sign is looked for first, as that costs next to nothing; a group `value` is what is secret.
Examples are written as in `token_shapes.py`.
"""

from __future__ import annotations

import msgspec

from watchgate.core.secrets.token_shapes import ALNUM, HEX, UUID

# What a shell acts on is never taken for a secret: a command must not hide behind `TOKEN=`.
INERT = r"[^\s\"'`$<>()|;&]"
# Names with dots and a bracket behind are code that fetches one: `token = request.headers.get(`.
_NO_CODE = r"(?![A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){1,4}(?:\(|\[[\"']))"
_VALUE = rf"[\"']?{_NO_CODE}(?P<value>{INERT}{{6,}})"
_ANY_VALUE = rf"[\"']?(?!-)(?P<value>{INERT}+)"
_NAMES = (
    "password|passwd|passphrase|passcode|pwd|secret|token|credential"
    "|(?:api|access|private|auth|signing|encryption|master|account|service)[_-]?key"
)
_TYPES = (
    "string|str|text|bool|boolean|number|integer|required|optional|undefined|unknown|object"
    "|options?|secretstr|prompt|policy|strength|manager|default|example|changed|protected"
)
_BREAK = r"(?:\n-(?!-)|[\s\"'+,]|\\[nr])"
# Only what looks like the lines of a key, for the same reason. Nothing is tried twice: the end
# may always be left out. The repeated groups are not possessive, which Python gets wrong before
# 3.11.5 where a possessive repeat stands in them.
_PEM = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_BREAK}++(?:Proc-Type|DEK-Info|Version|Comment): [\w,.-]++)*"
    rf"(?:{_BREAK}++[A-Za-z0-9+/=]{{16,}}+)*"
    rf"(?:{_BREAK}*+[A-Za-z0-9+/=]{{0,64}}+{_BREAK}*+"
    r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_HEADERS = (
    "x-[a-z-]{1,40}(?:key|token|secret|signature)|api-?key"
    "|private-token|job-token|deploy-token|circle-token|dd-api-key|dd-application-key"
    "|ocp-apim-subscription-key|cf-access-client-secret"
)
_SCHEMES = "bearer|basic|token|digest|ssws|apikey|key|genie-?key|bot"


class Announced(msgspec.Struct, frozen=True):
    """One kind; every text that holds it has a sign of it.

    A sign is a run of letters and digits in small letters (`authorization`), or one of a certain
    length that may have to begin with one of these letters (`#24mno`) or stand before a dash in its
    own letters (`#32-`), or, with other characters in it, any piece of the text (`://`). `=` stands
    for a name of `ASSIGNED` before an equals sign.
    """

    kind: str
    signs: tuple[str, ...]
    pattern: str
    example: str


ASSIGNED = (
    r"=(?<=[dntyesDNTYES]=)(?i:(?<=password=)|(?<=passwd=)|(?<=pwd=)|(?<=token=)|(?<=secret=)"
    r"|(?<=key=)|(?<=passphrase=)|(?<=passcode=)|(?<=credential=)|(?<=credentials=))"
)
_PASSWORDS = (
    "password passwd passphrase passcode pwd pass passwords dbpassword dbpass userpassword"
    " pgpassword mypassword rootpassword adminpassword"
)
_NAMES_ALONE = (
    "secret token credential credentials key apikey accesskey secretkey privatekey authkey"
    " signingkey encryptionkey masterkey accountkey servicekey accesstoken authtoken refreshtoken"
    " bearertoken clientsecret appsecret secrets tokens"
)


ANNOUNCED = (
    Announced(
        "azure-key",
        ("accountkey", "sharedaccesskey"),
        r"\b(?:Account|SharedAccess)Key=(?P<value>[\w+/]{30,}=*)",
        "AccountName=x;AccountKey=<40>",
    ),
    Announced(
        "password",
        ("=", *_PASSWORDS.split(), *_NAMES_ALONE.split()),
        rf"(?i:(?:{_NAMES})[\w.-]{{0,40}}(?<![_-]file)[\"']?"
        r"(?:\s{0,2}=\s{0,2}|(?<=[\"']):\s{0,2}(?=[\"'])))" + _VALUE,
        "DB_PASSWORD='<8>' ./run",
    ),
    Announced(
        "password",
        ("pass",),
        r"(?i:[a-z0-9]_pass[\"']?\s{0,2}[=:]\s{0,2})" + _VALUE,
        "SMTP_PASS=<10> ./run",
    ),
    Announced(
        "password",
        tuple(_PASSWORDS.split()),
        rf"(?i:\b\w{{0,40}}(?:password|passwd|passphrase|passcode|pwd)[\"']?\s{{0,2}}:\s{{1,2}}"
        rf"(?![\"']?(?:{_TYPES})\b))" + _VALUE,
        "password: <8>",
    ),
    Announced(
        "password",
        tuple(_NAMES_ALONE.split()),
        rf"(?i:(?:{_NAMES})[\"']?\s{{0,2}}:\s{{1,2}})[\"']?"
        r"(?P<value>(?=[^\s]{0,64}?[0-9])(?=[^\s]{0,64}?[A-Za-z])" + INERT + "{12,})",
        "api_key: <20>",
    ),
    Announced(
        "password",
        ("creds", *_PASSWORDS.split(), *_NAMES_ALONE.split()),
        rf"(?i:--(?:[\w]{{1,30}}-){{0,4}}(?:{_NAMES}|pass|creds)(?:-value|-string)?[= ])"
        + _ANY_VALUE,
        "login --password <8>",
    ),
    Announced(
        "key",
        ("key", "pat", "dsn"),
        rf"\b[A-Z][A-Z0-9_]{{1,40}}_(?:KEY|PAT|DSN)={_VALUE}",
        "DEEPL_KEY=<32>",
    ),
    Announced(
        "authorization",
        ("authorization",),
        rf"(?i:\bauthorization[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?(?:(?:{_SCHEMES})\b[\s:=]{{0,4}})?"
        rf"(?!(?:{_SCHEMES})\b))(?P<value>{INERT}{{6,}})",
        "curl -H 'Authorization: Bearer <12>' x",
    ),
    Announced(
        "authorization",
        ("bearer",),
        r"(?i:\bbearer )(?P<value>(?=[\w.~+/=-]{0,64}?[0-9])[\w.~+/=-]{16,})",
        "Bearer <24>",
    ),
    Announced(
        "api-key",
        ("signature", *_NAMES_ALONE.split()),
        rf"(?i:\b(?:{_HEADERS})[\"']?\s{{0,4}}:\s{{0,4}})[\"']?(?P<value>{INERT}{{6,}})",
        "curl -H 'X-Api-Key: <10>'",
    ),
    Announced(
        "cookie",
        ("cookie",),
        rf"(?i:\b(?:set-)?cookie:)\s{{0,4}}(?P<value>{INERT}{{6,}}(?:; [\w.-]{{1,64}}={INERT}+)*)",
        "curl -H 'Cookie: session=<24>; csrf=<12>' x",
    ),
    Announced(
        "url-password",
        ("://",),
        r"://[^/\s:@\"']{0,128}:(?P<value>[^\s\"'`$<>()|;&/@]{1,256})@",
        "git clone https://u:<8>@h/x",
    ),
    Announced(
        "url-token",
        ("://",),
        r"://(?P<value>(?=[\w-]{0,64}?[0-9])[\w-]{20,})@",
        "https://<32>@github.com/o/r",
    ),
    Announced(
        "url-signature",
        ("sig", "signature", "key", "token"),
        r"(?i:[?&](?:sig|signature|x-amz-signature|x-goog-signature|x-amz-security-token|key)=)"
        r"(?P<value>[\w%+/=-]{16,})",
        "https://x.blob.core.windows.net/a?sv=1&sig=<43>",
    ),
    Announced(
        "slack-webhook",
        ("hooks",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[\w/]{20,})",
        "curl https://hooks.slack.com/services/<9>/<9>/<24>",
    ),
    Announced(
        "discord-webhook",
        ("webhooks",),
        r"/api/webhooks/\d{5,20}/(?P<value>[\w-]{30,})",
        "https://discord.com/api/webhooks/<18d>/<68>",
    ),
    Announced(
        "teams-webhook",
        ("webhookb2",),
        r"webhook\.office\.com/webhookb2/(?P<value>[\w@/-]{40,})",
        "https://x.webhook.office.com/webhookb2/<8x>-<4x>-<4x>-<4x>-<12x>@<32x>/IncomingWebhook/<32x>",
    ),
    Announced(
        "zapier-webhook",
        ("zapier",),
        r"hooks\.zapier\.com/hooks/catch/(?P<value>[\w/]{8,})",
        "https://hooks.zapier.com/hooks/catch/<8d>/<7>",
    ),
    Announced("private-key", ("private",), _PEM, "-----BEGIN PRIVATE KEY-----\n<64>"),
    Announced(
        "private-key",
        ("private",),
        r"Private-Lines: \d{1,3}\s+(?P<value>[A-Za-z0-9+/=\s]{16,}+)",
        "Private-Lines: 1\n<64>",
    ),
    Announced(
        "netrc-password",
        ("password",),
        rf"\blogin\s{{1,4}}\S{{1,128}}\s{{1,4}}password\s{{1,4}}(?P<value>{INERT}+)",
        "machine h login u password <8>",
    ),
    Announced(
        "sql-password",
        ("identified", "password"),
        r"(?i:\b(?:identified by|with password|password) ')(?P<value>[^'\s]{1,128})'",
        "psql -c \"ALTER USER x WITH PASSWORD '<10>'\"",
    ),
    Announced(
        "terraform-token",
        ("atlasv1",),
        rf"(?<!{ALNUM}){ALNUM}{{14}}\.atlasv1\.[\w=-]{{60,}}",
        "<14>.atlasv1.<67>",
    ),
    Announced(
        "telegram-token",
        (":AA",),
        r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])",
        "curl https://api.telegram.org/bot<10d>:AA<33>/getMe",
    ),
    Announced(
        "discord-token",
        ("#24mno", "#25mno", "#26mno", "#27mno", "#28mno"),
        r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])",
        "M<25>.<6>.<38>",
    ),
    Announced(
        "mailgun-key",
        ("#32-",),
        rf"(?<![\w-]){HEX}{{32}}-{HEX}{{8}}-{HEX}{{8}}(?![\w-])",
        "<32x>-<8x>-<8x>",
    ),
    Announced(
        "mailchimp-key", ("#32-",), rf"(?<![\w-]){HEX}{{32}}-us\d{{1,2}}(?![\w-])", "<32x>-us21"
    ),
    Announced("newrelic-key", ("#40",), rf"(?<!{ALNUM}){HEX}{{36}}NRAL(?!{ALNUM})", "<36x>NRAL"),
    Announced(
        "asana-token",
        ("1/", "2/"),
        rf"(?<![\w/])[12]/\d{{10,17}}(?:/\d{{10,17}})?:{HEX}{{32}}",
        "1/<16d>:<32x>",
    ),
    Announced("google-refresh-token", ("1//0",), r"(?<!\w)1//0[\w-]{40,}", "1//0<80>"),
    Announced(
        "paypal-token",
        ("token",),
        rf"access_token\$(?:production|sandbox)\${ALNUM}{{13,}}\${HEX}{{32}}",
        "access_token$production$<16>$<32x>",
    ),
    Announced(
        "openshift-token",
        ("sha256",),
        r"(?<!\w)sha256~[\w-]{40,}",
        "oc login --server x sha256~<43>",
    ),
    Announced(
        "coinbase-key",
        ("organizations",),
        rf"organizations/{UUID}/apiKeys/{UUID}",
        "organizations/<8x>-<4x>-<4x>-<4x>-<12x>/apiKeys/<8x>-<4x>-<4x>-<4x>-<12x>",
    ),
    Announced(
        "firebase-token",
        (":APA91b",),
        r"(?<![\w-])[\w-]{11,22}:APA91b[\w-]{100,}",
        "<22>:APA91b<134>",
    ),
    Announced(
        "salesforce-token",
        ("!AQ", "!AR"),
        rf"(?<!{ALNUM})00D{ALNUM}{{12,15}}!A[QR][\w.]{{40,}}",
        "00D<15>!AQ<96>",
    ),
    Announced("okta-token", ("#420", "ssws"), r"(?<![\w-])00[\w-]{40}(?![\w-])", "00<40>"),
)
