"""What credentials look like inside a text: the patterns behind `redact`.

Compiled when first needed: most command lines never are suspicious. Only `redact` imports this.
"""

from __future__ import annotations

import re
from functools import lru_cache

from strobe.environment.redact import REDACTED, judge_name, looks_random

# Tokens that their makers gave a shape; each is a credential wherever it stands.
SHAPES = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])",  # AWS access key id
    r"gh[pousr]_[A-Za-z0-9]{30,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",  # GitLab
    r"hf_[A-Za-z0-9]{20,}",  # Hugging Face
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"AIza[0-9A-Za-z_-]{35}",  # Google
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"[rs]k_live_[A-Za-z0-9]{16,}",  # Stripe
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{40,}",
    r"wandb_v[0-9]_[A-Za-z0-9_]{20,}",
    r"strobe_[A-Za-z0-9]{12}_[A-Za-z0-9]{43}(?![A-Za-z0-9])",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",  # JSON web token
    r"sk-(?:[a-z0-9]+-)*(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Z])[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic
    r"sk-[a-f0-9]{32,}",
)


@lru_cache(maxsize=1)
def _shapes() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(SHAPES) + ")")


@lru_cache(maxsize=1)
def _private_keys() -> re.Pattern[str]:
    return re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


@lru_cache(maxsize=1)
def _urls() -> re.Pattern[str]:
    # Greedy up to the last @ before the path: passwords hold @ more often than hosts do.
    return re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20}://)(?P<user>[^\s/?#\"'<>]+)@")


@lru_cache(maxsize=1)
def _schemes() -> re.Pattern[str]:
    return re.compile(r"(?i)(?<![A-Za-z0-9])(bearer|basic)([ \t]+)([A-Za-z0-9._~+/=-]{12,})")


@lru_cache(maxsize=1)
def _headers() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(authorization[\"']?[ \t]*[:=][ \t]*[\"']?)(?:(bearer|basic|token|digest)[ \t]+)?([^\s\"']+)"
    )


@lru_cache(maxsize=1)
def _words_before_hex() -> re.Pattern[str]:
    # Forty hex digits are a git commit, unless they follow a word that speaks of keys.
    return re.compile(r"(?i)((?:wandb|api[_-]?key|login|relogin)\b[^\n]{0,40}?[\s=:'\"])([0-9a-f]{40})(?![0-9a-f])")


@lru_cache(maxsize=1)
def _assignments() -> re.Pattern[str]:
    return re.compile(
        r"(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)"
        r"(?P<sign>[\"']?[ \t]{0,4}(?::=|[=:])[ \t]{0,4})"
        r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[^\s&;]+)"
    )


@lru_cache(maxsize=1)
def _flags() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]*)(?P<sign>\s+)(?P<value>'[^'\n]*'|\"[^\"\n]*\"|[^\s'\"-]\S*)"
    )


def replace_secrets(text: str, *, code: bool) -> str:
    """Return `text` with every credential found in it replaced."""
    lowered = text.lower()
    if "private key" in lowered:
        text = _private_keys().sub(rf"\1 {REDACTED} \2", text)
    if "://" in text and "@" in text:
        text = _urls().sub(_clean_url, text)
    text = _shapes().sub(REDACTED, text)
    if len(text) > 40:
        text = _words_before_hex().sub(rf"\1{REDACTED}", text)
    if "authorization" in lowered:
        text = _headers().sub(_clean_header, text)
    if "bearer" in lowered or "basic" in lowered:
        text = _schemes().sub(_clean_scheme, text)
    if not code:
        text = _flags().sub(_clean_named, text)
    return _assignments().sub(_clean_literal if code else _clean_named, text)


def _clean_url(match: re.Match[str]) -> str:
    user = match["user"]
    # git@host and name@host are addresses; name:password@host and token@host are not.
    if ":" not in user and not looks_random(user) and not _shapes().search(user):
        return match.group()
    return f"{match['scheme']}{REDACTED}@"


def _clean_header(match: re.Match[str]) -> str:
    start, scheme, value = match.groups()
    if REDACTED in value or value.startswith("("):
        return match.group()
    return f"{start}{scheme + ' ' if scheme else ''}{REDACTED}"


def _clean_scheme(match: re.Match[str]) -> str:
    word, space, value = match.groups()
    has_digit = any(character.isdigit() for character in value)
    # "basic Internationalization" is a word; capitals in the middle of one are base64.
    if not has_digit and (value[1:].islower() or value.isupper() or value.lower() == value):
        return match.group()
    return f"{word}{space}{REDACTED}"


def _clean_named(match: re.Match[str]) -> str:
    name, sign, value = match["name"], match["sign"], match["value"]
    bare = value.strip("\"'")
    if not bare or REDACTED in value or value.startswith("//") or not _is_secret(name, bare):
        return match.group()
    if bare.lower() in ("bearer", "basic", "token", "digest"):  # what follows it was done by _clean_header
        return match.group()
    return match.group()[: match.start("sign") - match.start()] + sign + _quoted_like(value)


def _clean_literal(match: re.Match[str]) -> str:
    value = match["value"]
    is_literal = value[0] in "\"'" and len(value) > 2
    if is_literal or looks_random(value):
        return _clean_named(match)
    return match.group()


def _is_secret(name: str, value: str) -> bool:
    verdict = judge_name(name)
    return verdict == "secret" or (verdict == "perhaps" and looks_random(value))


def _quoted_like(value: str) -> str:
    quote = value[0] if value[0] in "\"'" else ""
    return f"{quote}{REDACTED}{quote}"
