"""Which code a side of a row is when it is measured again: what was named, the commit of its result, or what lies here.

Measuring some code against itself finds nothing, and so would clear any row. It happens easily: nobody keeps
uncommitted changes, and two results of one commit may differ in the libraries alone. Only two implementations of a
benchmark are meant to share their code. Pure: what git knows is asked for by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strobe.bench.records import Environment, Record

#: what lies in the working tree, uncommitted changes included
HERE = "."


@dataclass(frozen=True, slots=True)
class Origin:
    """The code of both sides as far as it was named (a commit, a python, or `.`), and what is known of this place."""

    a: str | None
    b: str | None
    #: the commit that lies here, and whether it was changed
    here: Environment
    #: what git means by a word here; None for what it does not know, such as commits of other repositories
    commit_of: Callable[[str], str | None]

    def words(self, a: Record, b: Record) -> tuple[str, str]:
        """Return the code of both sides, in a word each."""
        return _word(self.a, a), _word(self.b, b)

    def is_here(self, word: str) -> bool:
        """Whether a commit lies here, unchanged."""
        return not self.here.is_dirty and bool(commit := self.commit_of(word)) and commit == self.here.git_commit

    def why_unknown(self, a: Record, b: Record) -> str | None:
        """Return why measuring two sides again would not compare what the row does, if so."""
        words = self.words(a, b)
        for side, word, named in zip("ab", words, (self.a, self.b), strict=True):
            if named is None and word != HERE and self.commit_of(word) is None:
                return f"commit {word[:10]} is not of the repository here; go to its own, or name it with --code-{side}"
        if a.benchmark != b.benchmark:
            return None
        if self.a is None and a.environment.is_dirty:
            return "A was measured with uncommitted changes, which are gone; name its code with --code-a"
        is_named = self.a is not None and self.b is not None
        if not is_named and self._meaning(words[0]) == self._meaning(words[1]):
            return "both sides would be the same code; name that of A with --code-a, or that of B with --code-b"
        return None

    def _meaning(self, word: str) -> str:
        if word == HERE:
            return HERE if self.here.is_dirty else self.here.git_commit or HERE
        return self.commit_of(word) or word


def _word(named: str | None, record: Record) -> str:
    if named is not None:
        return named
    known = record.environment
    return HERE if known.is_dirty else known.git_commit or HERE
