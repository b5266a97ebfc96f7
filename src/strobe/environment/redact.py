"""Redaction: credentials are taken out of what is recorded, before it is written.

Two questions are asked: does the *name* say credential (`password`, `api_key`; not `tokenizer`, `max_tokens`), and
does the *text* hold one (a URL with a password, `--api-key x`, a token of a known shape)? A name that only may mean
one (`key`, `pad_token`) counts when its value looks random. docs/environment.md lists the rules; patterns are in
credential.py, loaded only when a text looks suspicious. This module knows nothing of runs or where values go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

REDACTED = "[redacted]"

Value = TypeVar("Value")

#: words that mean a credential wherever they end a name
SECRET_WORDS = frozenset(
    (
        *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "jwt"),
        *("credential", "credentials", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "authtoken"),
        *("accesstoken", "authorization"),
    )
)
#: a name that ends in key or token is a credential right after one of these …
OWNERS = frozenset(
    (
        *("api", "access", "secret", "private", "auth", "authentication", "account", "deploy", "encryption", "license"),
        *("master", "signing", "ssh", "storage", "subscription"),
    )
)
#: … and one that ends in token after these, too
TOKEN_OWNERS = OWNERS | frozenset(
    (
        *("admin", "app", "bearer", "bot", "client", "git", "hub", "id", "jwt", "login", "oauth", "pat", "personal"),
        *("read", "refresh", "registry", "security", "service", "session", "user", "write"),
    )
)
#: … and both with one of these anywhere before it
BRANDS = frozenset(
    (
        *(
            "anthropic",
            "aws",
            "azure",
            "cohere",
            "comet",
            "discord",
            "gcp",
            "gemini",
            "gh",
            "github",
            "gitlab",
            "google",
        ),
        *(
            "hf",
            "huggingface",
            "kaggle",
            "mistral",
            "mlflow",
            "neptune",
            "npm",
            "nvidia",
            "openai",
            "pypi",
            "replicate",
        ),
        *("slack", "stripe", "strobe", "swanlab", "telegram", "wandb"),
    )
)
#: what may follow without making the name harmless; anything else does: `password_length`, `secret_dim`
_AFTERTHOUGHTS = frozenset(
    ("value", "string", "str", "text", "plain", "plaintext", "hash", "base", "b64", "base64", "env")
)
_PERHAPS = frozenset(("auth", "pass", "cookie", "signature", "sig", "sas"))
_PASSWORDS = ("pass", "pwd")
#: special tokens of language models and keys of dictionaries, whatever their value looks like
_HARMLESS_BEFORE = frozenset(
    (
        *("pad", "eos", "bos", "unk", "mask", "sep", "cls", "eot", "special", "stop", "start", "end", "image", "audio"),
        *(
            "video",
            "begin",
            "prompt",
            "num",
            "n",
            "max",
            "min",
            "total",
            "per",
            "new",
            "input",
            "output",
            "sort",
            "primary",
        ),
        *(
            "foreign",
            "cache",
            "group",
            "partition",
            "dict",
            "rng",
            "prng",
            "random",
            "query",
            "text",
            "label",
            "target",
        ),
    )
)

# Patterns cost milliseconds to compile, so a text is looked at without them first. What holds none of these words holds
# nothing that the patterns in credential.py find.
_NAME_HINTS = ("key", "token", "secret", "pass", "pwd", "cred", "auth", "jwt", "sig", "sas", "cookie")
_OTHER_HINTS = (
    *(
        "bearer",
        "basic",
        "wandb",
        "login",
        "akia",
        "asia",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "hub_pat_",
        "glpat-",
    ),
    *("hf_", "sk-", "k_live_", "xox", "aiza", "ya29.", "npm_", "pypi-", "eyj", "private key"),
)
_NAME_CHARACTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_NAMES_ONLY = bytes(byte if byte in _NAME_CHARACTERS else 32 for byte in range(256))
_NUMBERS = (float, int, bool, type(None))


def redact(value: Value) -> Value:
    """Return `value` without credentials: the very same object when there are none.

    Mappings by their keys and values, lists and tuples as command lines, strings by what they hold; anything else as
    it is. Results are plain dicts, lists and tuples.
    """
    return _redact(value)  # type: ignore[no-any-return]


def _redact(value: Any) -> Any:
    if type(value) in _NUMBERS:
        return value
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, list | tuple):
        return redact_argv(value)
    return value


def _redact_mapping(mapping: Mapping[Any, Any]) -> Any:
    changed: dict[Any, Any] = {}
    for key, value in mapping.items():
        cleaned = _redact_named(key, value) if isinstance(key, str) else _redact(value)
        if cleaned is not value:
            changed[key] = cleaned
    return {**mapping, **changed} if changed else mapping


def _redact_named(name: str, value: Any) -> Any:
    verdict = judge_name(name)
    if verdict is None:
        return _redact(value)
    if verdict == "secret" or looks_random(value):
        if type(value) is int and any(word in name.lower() for word in _PASSWORDS):
            return REDACTED
        return _blank(value)
    return _redact(value)


def _blank(value: Any) -> Any:
    """Replace every text in the value of a secret name. Numbers stay: they are sizes and counts."""
    if isinstance(value, str):
        return REDACTED if value and value != REDACTED else value
    if isinstance(value, bytes):
        return REDACTED
    if isinstance(value, Mapping):
        blanked = {key: _blank(item) for key, item in value.items()}
        return blanked if any(blanked[key] is not item for key, item in value.items()) else value
    if isinstance(value, list | tuple):
        items = [_blank(item) for item in value]
        return type(value)(items) if type(value) in (list, tuple) and _differs(items, value) else value
    return value


def redact_argv(argv: Iterable[Any]) -> Any:
    """Return a command line (or any list) without credentials, the one after `--api-key` included."""
    items = argv if isinstance(argv, list | tuple) else list(argv)
    cleaned: list[Any] = []
    flag: str | None = None
    for item in items:
        if not isinstance(item, str):
            cleaned.append(_redact(item))
            flag = None
        elif flag is not None and not item.startswith("-"):
            cleaned.append(_redact_named(flag, item))
            flag = None
        else:
            name, sign, given = item.partition("=")
            is_secret = sign and name.isascii() and judge_name(name) == "secret"
            cleaned.append(f"{name}={_blank(given)}" if is_secret and given != REDACTED else redact_text(item))
            flag = name.lstrip("-") if item.startswith("-") and not sign else None
    if not _differs(cleaned, items):
        return argv
    return tuple(cleaned) if isinstance(items, tuple) else cleaned


def redact_text(text: str, *, code: bool = False) -> str:
    """Return `text` without credentials. With `code`, `name = value` counts only where the value is a literal."""
    if not _is_suspicious(text):
        return text
    from strobe.environment.credential import replace_secrets

    cleaned = replace_secrets(text, code=code)
    return text if cleaned == text else cleaned


def _is_suspicious(text: str) -> bool:
    lowered = text.lower()
    if "@" in lowered and "://" in lowered:
        return True
    for hint in _OTHER_HINTS:
        if hint in lowered:
            return True
    for hint in _NAME_HINTS:
        if hint in lowered:
            return _holds_suspicious_name(text)
    return False


def _holds_suspicious_name(text: str) -> bool:
    """Whether something that could be followed by a value has a name that speaks of credentials."""
    if not any(sign in text for sign in "=: \t"):
        return False
    names = text.encode("ascii", "replace").translate(_NAMES_ONLY).decode().split()
    return any(judge_name(name) is not None for name in names)


@lru_cache(maxsize=4096)
def judge_name(name: str) -> str | None:
    """Return "secret" for a name that says credential, "perhaps" for one that may, None for all others."""
    words = _words(name)
    if not words or words in (["pwd"], ["oldpwd"]):  # the shell's working directory
        return None
    while len(words) > 1 and (words[-1] in _AFTERTHOUGHTS or words[-1].isdigit()):
        words.pop()
    last, previous = words[-1], words[-2] if len(words) > 1 else ""
    if last in SECRET_WORDS:
        return "secret"
    if last in ("key", "keys", "token", "tokens"):
        if previous in _HARMLESS_BEFORE:
            return None
        if previous in (TOKEN_OWNERS if last.startswith("token") else OWNERS) or not BRANDS.isdisjoint(words[:-1]):
            return "secret"
        # "tokens" and "keys" alone are counts and dictionaries far more often than credentials.
        return "perhaps" if last in ("key", "token") else None
    return "perhaps" if last in _PERHAPS else None


def looks_random(value: Any) -> bool:
    """Whether a text could be a key: long, one word, letters and digits mixed without a pattern a person would use."""
    if not isinstance(value, str) or len(value) < 16 or not value.isascii():
        return False
    plain = value.translate(_PUNCTUATION)
    if not plain.isalnum() or len(plain) < 0.8 * len(value):
        return False
    kinds = ["digit" if c.isdigit() else "upper" if c.isupper() else "lower" for c in plain]
    if kinds.count("digit") < 3 or len(set(kinds)) < 2:
        return False
    # Names are words with a number at the end; in keys the kind of character changes all the time.
    return sum(a != b for a, b in pairwise(kinds)) >= max(5, 0.35 * len(plain))


_PUNCTUATION = {ord(character): None for character in "+/=_-.~:%"}


def _words(name: str) -> list[str]:
    """Split `HFToken`, `hf-token`, `hfToken2` and `HF_TOKEN` into lower-case words."""
    words: list[str] = []
    current = ""
    for index, character in enumerate(name):
        if not character.isalnum():
            words.append(current)
            current = ""
            continue
        starts_word = character.isupper() and current and not current[-1].isupper()
        # The last capital of a run belongs to the word after it: HFToken is HF, Token.
        ends_run = character.isupper() and current[-1:].isupper() and name[index + 1 : index + 2].islower()
        if starts_word or ends_run or (current and character.isdigit() != current[-1].isdigit()):
            words.append(current)
            current = ""
        current += character
    words.append(current)
    return [word.lower() for word in words if word]


def _differs(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return any(a is not b for a, b in zip(new, old, strict=True))
