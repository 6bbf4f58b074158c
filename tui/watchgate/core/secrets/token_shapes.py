"""Tokens that are known by their beginning: one row for each kind, with an example.

Source: what each vendor documents of its tokens, and the kinds that public secret scanners know.
In an example `<20>` stands for 20 letters and digits, `<32x>` for hexadecimal digits, `<9d>` for
decimal ones, `<20u>` for capitals and digits, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import msgspec

ALNUM = "[A-Za-z0-9]"
WORD = "[A-Za-z0-9_]"
DASHED = r"[\w-]"
HEX = "[a-f0-9]"
UUID = "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"
_UUID_EXAMPLE = "<8x>-<4x>-<4x>-<4x>-<12x>"


class TokenShape(msgspec.Struct, frozen=True):
    """One kind of token: `head` is how it begins, `tail` a pattern of what follows.

    Nothing of `apart` may stand before it. Where something must follow a run without end, that
    holds all characters of the run: each would else be a beginning, and a long text take for ever.
    """

    kind: str
    head: str
    tail: str
    example: str
    apart: str = "[A-Za-z0-9]"


def _rows(*rows: tuple[str, str, str, str]) -> tuple[TokenShape, ...]:
    """One token for each beginning that a row names; `~` in an example stands for that."""
    return tuple(
        TokenShape(kind, head, tail, example.replace("~", head))
        for kind, heads, tail, example in rows
        for head in heads.split()
    )


TOKENS = _rows(
    # Code hosts and builds
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{ALNUM}{{16,}}", "~<36>"),
    ("github-token", "github_pat_", f"{WORD}{{16,}}", "~<82>"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- glffct- gloas-",
        r"[\w.-]{16,}",
        "~<20>",
    ),
    ("gitlab-token", "GR1348941", f"{DASHED}{{20,}}", "~<20>"),
    ("bitbucket-token", "ATBB", f"{ALNUM}{{28,}}", "~<32>"),
    ("atlassian-token", "ATATT3 ATCTT3", r"[\w=-]{60,}", "~<180>"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", f"{WORD}{{16,}}", "~<22>_<40x>"),
    ("buildkite-token", "bkua_ bkaj_ bkct_ bkpt_", f"{ALNUM}{{16,}}", "~<40x>"),
    ("sourcegraph-token", "sgp_", f"{WORD}{{16,}}", "~<16x>_<40x>"),
    ("sonar-token", "squ_ sqp_ sqa_", f"{ALNUM}{{16,}}", "~<40x>"),
    ("snyk-token", "snyk_uat. snyk_sat.", r"[\w.-]{16,}", "~<8x>.<60>"),
    ("codeclimate-token", "cc_", f"{ALNUM}{{16,}}", "~<40x>"),
    ("jfrog-key", "AKCp", f"{ALNUM}{{50,}}", "~<69>"),
    ("jfrog-key", "cmVmdGtuO", f"{ALNUM}{{40,}}", "~<55>"),
    # Packages
    ("npm-token", "npm_", f"{ALNUM}{{16,}}", "~<36>"),
    ("pypi-token", "pypi-AgE", f"{DASHED}{{16,}}", "~<60>"),
    ("rubygems-key", "rubygems_", f"{ALNUM}{{16,}}", "~<48x>"),
    ("nuget-key", "oy2", "[a-z0-9]{43}", "~<43x>"),
    ("crates-token", "cio", f"{ALNUM}{{32}}", "~<32>"),
    ("clojars-token", "CLOJARS_", r"[a-z0-9]{16,}", "~<60x>"),
    ("docker-token", "dckr_pat_ dckr_oat_", f"{DASHED}{{16,}}", "~<27>"),
    # Clouds and hosts
    ("aws-key", "AKIA ASIA ABIA ACCA", "[0-9A-Z]{16}(?![0-9A-Z])", "~<16u>"),
    ("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{100,}", "~<128>"),
    ("google-key", "AIza", f"{DASHED}{{35}}", "~<35>"),
    ("google-key", "AQ.", f"{DASHED}{{16,}}", "~<48>"),
    ("google-token", "ya29.", r"[\w.-]{16,}", "~<120>"),
    ("google-secret", "GOCSPX-", f"{DASHED}{{16,}}", "~<28>"),
    ("alibaba-key", "LTAI", f"{ALNUM}{{16,}}", "~<20>"),
    ("tencent-key", "AKID", f"{ALNUM}{{28,}}", "~<32>"),
    ("yandex-key", "AQVN", f"{DASHED}{{35,}}", "~<35>"),
    ("yandex-token", "t1.", r"[\w-]{20,256}=*\.[\w-]{86}=*", "~<40>.<86>"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", f"{ALNUM}{{16,}}", "~<64x>"),
    ("cloudflare-origin-key", "v1.0-", f"{HEX}{{20,64}}-{HEX}{{100,}}", "~<24x>-<146x>"),
    ("flyio-token", "fm2_ fm1r_ fm1a_ fo1_", r"[\w+/=,-]{16,}", "~<100>"),
    ("vercel-token", "vercel_ vcp_ vci_ vca_ vcr_ vck_", f"{ALNUM}{{16,}}", "~<56>"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_", f"{ALNUM}{{16,}}", "~<36>"),
    ("heroku-key", "HRKU-", f"{DASHED}{{16,}}", "~<60>"),
    ("render-key", "rnd_", f"{ALNUM}{{16,}}", "~<32>"),
    ("scaleway-key", "SCW", "[A-Z0-9]{17}(?![A-Z0-9])", "~<17u>"),
    ("tailscale-key", "tskey-", f"{DASHED}{{16,}}", "~auth-<12>-<32>"),
    ("vault-token", "hvs. hvb. hvr.", f"{DASHED}{{16,}}", "~<90>"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{16,}", "~<43>"),
    ("infisical-token", "st.", rf"{HEX}{{8}}[\w.-]{{40,}}", "~<24x>.<32x>.<32x>"),
    ("pulumi-token", "pul-", f"{ALNUM}{{16,}}", "~<40x>"),
    ("onepassword-token", "ops_eyJ", r"[\w+/=-]{16,}", "~<250>"),
    (
        "onepassword-key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,3}[A-Z0-9]{5}(?:-[A-Z0-9]{5})?",
        "~<6u>-<11u>-<5u>-<5u>-<5u>",
    ),
    ("kubernetes-token", "K10", f"{HEX}{{48,80}}::[\\w:-]{{16,}}", "~<64x>::server:<32x>"),
    ("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{16,}", "~<58u>"),
    # Databases
    ("supabase-token", "sbp_", f"{ALNUM}{{16,}}", "~<40x>"),
    ("supabase-key", "sb_secret_", f"{DASHED}{{16,}}", "~<31>"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{16,}", "~<43>"),
    ("neon-key", "napi_", f"{ALNUM}{{16,}}", "~<64>"),
    ("databricks-token", "dapi dkea dose", f"{HEX}{{32}}(?:-\\d)?", "~<32x>"),
    ("turso-token", "tsk_", f"{DASHED}{{16,}}", "~<40>"),
    ("cockroach-key", "CCDB1_", f"{WORD}{{16,}}", "~<22>_<40>"),
    # Models
    ("anthropic-key", "sk-ant-", f"{DASHED}{{16,}}", "~api03-<93>"),
    ("openai-key", "sk-", f"(?!ant-|zap-){DASHED}{{20,}}", "~proj-<48>"),
    ("groq-key", "gsk_", f"{ALNUM}{{16,}}", "~<52>"),
    ("xai-key", "xai-", f"{ALNUM}{{16,}}", "~<80>"),
    ("perplexity-key", "pplx-", f"{ALNUM}{{16,}}", "~<48>"),
    ("nvidia-key", "nvapi-", f"{DASHED}{{16,}}", "~<64>"),
    ("cerebras-key", "csk-", r"[a-z0-9]{16,}", "~<48x>"),
    ("replicate-token", "r8_", f"{ALNUM}{{16,}}", "~<37>"),
    ("huggingface-token", "hf_ api_org_", f"{ALNUM}{{16,}}", "~<34>"),
    ("together-key", "tgp_v1_", f"{DASHED}{{16,}}", "~<43>"),
    ("fireworks-key", "fw_", f"{ALNUM}{{16,}}", "~<24>"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", f"{HEX}{{32}}_{HEX}{{10}}", "~<32x>_<10x>"),
    ("pinecone-key", "pcsk_", f"{WORD}{{16,}}", "~<6>_<63>"),
    ("jina-key", "jina_", f"{DASHED}{{16,}}", "~<60>"),
    ("voyage-key", "pa-", f"{DASHED}{{40,}}", "~<43>"),
    ("tavily-key", "tvly-", f"{DASHED}{{16,}}", "~dev-<32>"),
    ("elevenlabs-key", "sk_", f"{ALNUM}{{16,}}", "~<48x>"),
    ("cursor-key", "crsr_ key_", f"{ALNUM}{{16,}}", "~<64x>"),
    ("firecrawl-key", "fc-", f"{ALNUM}{{16,}}", "~<32x>"),
    ("weights-and-biases-key", "wandb_v1_", f"{WORD}{{16,}}", "~<77>"),
    # Talking to people
    (
        "slack-token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe.xoxb- xoxe.xoxp-",
        r"[\w%-]{10,}",
        "~<12d>-<24>",
    ),
    ("slack-token", "xapp-", "\\d-[\\w-]{20,}", "~1-A<10u>-<13d>-<64x>"),
    ("sendgrid-key", "SG.", r"[\w-]{16,64}\.[\w-]{16,}", "~<22>.<43>"),
    ("mailgun-key", "key-", f"{HEX}{{32}}(?![a-z0-9])", "~<32x>"),
    ("brevo-key", "xkeysib- xsmtpsib-", f"{HEX}{{40,128}}-{ALNUM}{{16}}", "~<64x>-<16>"),
    ("resend-key", "re_", f"{ALNUM}{{8}}_{ALNUM}{{20,}}", "~<8>_<24>"),
    ("twilio-key", "SK AC", f"{HEX}{{32}}(?![a-f0-9])", "~<32x>"),
    ("intercom-token", "dG9rOj", "[A-Za-z0-9+/=]{40,}", "~<54>"),
    # Money and shops
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_", f"{ALNUM}{{10,}}", "~<24>"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{16,}", "~<32>"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", f"{DASHED}{{16,}}", "~<43>"),
    ("square-token", "EAAA", "[\\w+=-]{56,}", "~<60>"),
    (
        "plaid-token",
        "access-sandbox- access-development- access-production-",
        UUID,
        f"~{_UUID_EXAMPLE}",
    ),
    ("razorpay-key", "rzp_live_ rzp_test_", f"{ALNUM}{{14,}}", "~<14>"),
    ("flutterwave-key", "FLWSECK-", rf"{ALNUM}{{32}}-X", "~<32x>-X"),
    ("flutterwave-key", "FLWSECK_TEST-", f"{DASHED}{{12,}}", "~<32x>-X"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", f"{ALNUM}{{16,}}", "~<32x>"),
    ("easypost-key", "EZAK EZTK", f"{ALNUM}{{54}}", "~<54>"),
    ("duffel-token", "duffel_live_ duffel_test_", r"[\w=-]{16,}", "~<43>"),
    ("lob-key", "live_ test_", f"{HEX}{{35}}(?![a-z0-9])", "~<35x>"),
    ("shippo-token", "shippo_live_ shippo_test_", f"{ALNUM}{{16,}}", "~<40x>"),
    ("adyen-key", "AQE", r"[\w+/=.-]{60,}", "~<120>"),
    # Work
    ("notion-token", "ntn_", f"{ALNUM}{{16,}}", "~<46>"),
    ("notion-token", "secret_", f"{ALNUM}{{43}}(?!{ALNUM})", "~<43>"),
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", f"{ALNUM}{{16,}}", "~<40>"),
    ("figma-token", "figd_ figo_ figor_", f"{DASHED}{{16,}}", "~<40>"),
    ("airtable-token", "pat", rf"{ALNUM}{{14}}\.{HEX}{{64}}", "~<14>.<64x>"),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", UUID, f"~{_UUID_EXAMPLE}"),
    ("dropbox-token", "sl.", f"{DASHED}{{40,}}", "~<138>"),
    ("typeform-token", "tfp_", r"[\w.=-]{16,}", "~<59>"),
    ("contentful-token", "CFPAT-", f"{DASHED}{{16,}}", "~<43>"),
    ("postman-key", "PMAK-", f"{HEX}{{24}}-{HEX}{{34}}", "~<24x>-<34x>"),
    ("rapid-readme-key", "rdme_", r"[a-z0-9]{16,}", "~<70x>"),
    ("frameio-token", "fio-u-", r"[\w=-]{16,}", "~<64>"),
    ("prefect-token", "pnu_ pnb_", f"{ALNUM}{{16,}}", "~<36>"),
    ("zapier-key", "sk-zap-", f"{ALNUM}{{16,}}", "~<32>"),
    ("apify-token", "apify_api_", f"{ALNUM}{{16,}}", "~<36>"),
    ("calcom-key", "cal_live_", f"{ALNUM}{{16,}}", "~<32x>"),
    ("adobe-secret", "p8e-", f"{DASHED}{{16,}}", "~<32>"),
    ("facebook-token", "EAAG EAAC EAAB EAAD", f"{ALNUM}{{60,}}", "~<100>"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[\w%]{60,}", "~<80>"),
    # What watches programs
    ("grafana-token", "glsa_", f"{ALNUM}{{32}}_{HEX}{{8}}", "~<32>_<8x>"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/=]{16,}", "~<80>"),
    ("grafana-key", "eyJrIjoi", r"[A-Za-z0-9=]{60,}", "~<72>"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{16,}", "~<64>"),
    (
        "dynatrace-token",
        "dt0c01. dt0s01. dt0s16.",
        r"[A-Z0-9]{8,24}\.[A-Z0-9]{60,}",
        "~<24u>.<64u>",
    ),
    ("newrelic-key", "NRAK- NRJS- NRII- NRIQ- NRRA-", f"{DASHED}{{16,}}", "~<27u>"),
    ("posthog-key", "phx_ phs_", f"{ALNUM}{{16,}}", "~<47>"),
    ("honeycomb-key", "hcaik_ hcamk_ hcxik_ hcalk_", r"[a-z0-9]{16,}", "~<58x>"),
    ("launchdarkly-key", "api- sdk-", UUID, f"~{_UUID_EXAMPLE}"),
    ("rollbar-token", "rbac_", f"{ALNUM}{{16,}}", "~<64x>"),
    ("datadog-key", "ddapp_ ddp_", f"{ALNUM}{{16,}}", "~<40>"),
    ("axiom-token", "xaat- xapt-", UUID, f"~{_UUID_EXAMPLE}"),
)
TOKENS += (
    TokenShape(
        "jwt", "eyJ", r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", "eyJ<20>.eyJ<30>.<22>", r"[\w-]"
    ),
    TokenShape("maps-token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{16,}", "sk.eyJ<60>.<22>", r"[\w.-]"),
)
