"""What git itself has to be asked: how the working tree differs from the commit, and where the code came from."""

from __future__ import annotations

from typing import Any

from strobe.environment.execute import Failed, Output, execute
from strobe.environment.facts import DEFAULT_REMOTE
from strobe.environment.redact import redact_text
from strobe.environment.repository import find_repository

#: a longer diff is cut, and says so
MAX_DIFF_BYTES = 1 << 20
MAX_UNTRACKED = 1_000

# No prompts, no locks in a repository that somebody works in, no messages in the user's language.
_ENVIRON = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_PAGER": "cat"}


def describe_git(
    cwd: str,
    problems: list[str],
    deadline: float,
    *,
    remote: str = DEFAULT_REMOTE,
    diff: bool = True,
    redact: bool = True,
) -> dict[str, Any]:
    """Return commit, branch, remote, diff and untracked files; nothing when `cwd` is in no repository."""
    repository = find_repository(cwd)
    if repository is None:
        return {}
    commit, branch = repository.head()
    facts: dict[str, Any] = {"git_root": repository.root, "git_commit": commit, "git_branch": branch}

    def ask(*arguments: str, max_bytes: int = 1 << 16) -> Output | None:
        try:
            return execute(["git", *arguments], cwd=cwd, deadline=deadline, max_bytes=max_bytes, environ=_ENVIRON)
        except Failed as error:
            if not error.is_silent:
                problems.append(str(error))
            return None

    if commit is None and branch is not None:
        # Either no commit yet, or refs in a format that only git reads; --verify -q is silent about the former.
        answer = ask("rev-parse", "--verify", "-q", "HEAD")
        commit = facts["git_commit"] = answer.text.strip() or None if answer else None
    if answer := ask("config", "--get-regexp", r"^remote\..*\.url$"):
        url = _choose_remote(answer.text, remote)
        facts["git_remote"] = redact_text(url) if url and redact else url
    base = [commit] if commit else []
    arguments = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", *base, "--")
    # Whether there are changes is worth knowing even where what they are is not to be kept.
    if (changes := ask(*arguments, max_bytes=MAX_DIFF_BYTES if diff else 1)) is not None:
        facts["git_dirty"] = bool(changes.content)
        if diff and changes.content:
            facts["git_diff"] = redact_text(changes.text, code=True) if redact else changes.text
            facts["git_diff_cut"] = changes.is_cut
    if names := ask("ls-files", "--others", "--exclude-standard", "-z", "--", ":/", max_bytes=1 << 20):
        untracked = [name for name in names.text.split("\0") if name]
        if names.is_cut:
            untracked.pop()  # the last name may be half a name
        facts["git_untracked"] = untracked[:MAX_UNTRACKED]
        facts["git_untracked_count"] = len(untracked)
        facts["git_untracked_cut"] = names.is_cut or len(untracked) > MAX_UNTRACKED
    return facts


def _choose_remote(text: str, name: str) -> str | None:
    """Return the URL of the remote; where nobody asked for another than the usual one, any will do."""
    remotes: dict[str, str] = {}
    for line in text.splitlines():
        key, _, url = line.partition(" ")
        remotes.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    return remotes.get(name) or (next(iter(remotes.values()), None) if name == DEFAULT_REMOTE else None)
