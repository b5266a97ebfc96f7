"""The upload of one run, a step at a time: read what is new, send it, take the server's word for what it has.

Whoever drives it (the agent's crew, `strobe sync`) calls `advance` from one thread at a time and waits as long as it
says. Nothing here is lost by a kill at any moment: progress is what the server acknowledged, and the file that says how
far that is may be old or gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from strobe.agent.upload.cargo import Cargo, Look
from strobe.agent.upload.crew import Job
from strobe.agent.upload.journals import Journals
from strobe.agent.upload.post import Post
from strobe.agent.upload.progress import Progress
from strobe.home import RunDir, RunPath
from strobe.journal.event import ArtifactUse, Event, SavedFile
from strobe.remote.answer import Refused, Retry
from strobe.remote.state import SyncState

#: how soon something new goes out, and how often is looked for it when nothing came lately
RHYTHM_S = 0.25
_QUIET_S = 0.5
_QUIET_AFTER_S = 5.0
#: a refusal needs a person; until then is asked again rarely
REFUSED_S = 600.0
#: at least this long after an answer that was none, even where the link itself is well
_RETRY_S = 0.2
#: how often a run that lives is searched for new files
_LOOK_S = 2.0

MakeCargo = Callable[[SyncState, Mapping[str, str], Sequence[ArtifactUse]], Sequence[Cargo]]


class Course:
    """One run on its way to one server.

    `ended` names writers that have ended, from elsewhere than their journals; `is_live` tells whether more may come.
    `freight` puts files on threads of their own; without it they go in turn with the journals.
    """

    def __init__(
        self,
        run_dir: RunDir,
        post: Post,
        *,
        ended: Callable[[], Sequence[str]] = lambda: (),
        is_live: Callable[[], bool] = lambda: False,
        cargo: MakeCargo | None = None,
        freight: Callable[[Job], None] | None = None,
        destination: RunPath | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run_dir = run_dir
        self.post = post
        #: whether everything that was there at the last step is at the server
        self.is_caught_up = False
        self.progress = Progress(run_dir.path, post.link, str(destination or ""), clock)
        self._ended = ended
        self._is_live = is_live
        self._clock = clock
        #: what the journals said of saved files and logged artifacts
        self._policies: dict[str, str] = {}
        self._logged: list[ArtifactUse] = []
        self._journals = Journals(run_dir, self.state, destination, self._note_event)
        self._cargo = list(cargo(self.state, self._policies, self._logged)) if cargo else []
        self._freight = freight
        #: a round of files, who had ended and whether the run lived when it began
        self._look: tuple[Look, set[str], bool] | None = None
        self._look_at = float("-inf")
        self._is_cargo_refused = False
        self._parked_until = 0.0
        self._sent_at = float("-inf")
        self._is_abandoned = False

    @property
    def state(self) -> SyncState:
        return self.progress.state

    @property
    def is_to_stop(self) -> bool:
        """Whether somebody at the server wants the run to stop."""
        return bool(self.state.run) and self.post.is_to_stop(self.state.run)

    def abandon(self) -> None:
        """Take no more steps: somebody else goes on with the run."""
        self._is_abandoned = True

    def note_stopped(self, attempt: int) -> None:
        """Remember, also across a crash, that an attempt was asked to stop. Raises OSError."""
        self.state.stopped = [*self.state.stopped, attempt]
        self.progress.save_now()

    def advance(self) -> float | None:
        """Do the next step and return the seconds until the one after it; None when nothing is left to do for ever."""
        if self._is_abandoned:
            return None
        if not self.run_dir.exists():  # deleted: it stays so
            self.post.set_running(self.state.run, False)
            return None
        if (wait_s := max(self.post.link.hold_s(), self._parked_until - self._clock())) > 0:
            return min(wait_s, 60.0)
        # Asked before the journals are listed: what has ended by then is read to its end below.
        ended, is_live = set(self._ended()), self._is_live()
        if self.state.run:
            self.post.set_running(self.state.run, is_live)
        next_s = self._advance_journals()
        if next_s is None:
            self.post.beat()
            next_s = self._advance_rest(self._journals.ended | ended, is_live)
        self.progress.save()
        return None if self.state.is_complete else next_s

    # -- journals ----------------------------------------------------------------------------------------------------

    def _advance_journals(self) -> float | None:
        """Send what the journals have; None if there was nothing."""
        limits = self.post.link.limits
        shares = self._journals.read(limits)
        self._count_left()
        if not shares:
            return None
        self.is_caught_up = False
        receipt, answer, num_bytes = self.post.send(shares)
        if receipt is None:
            assert isinstance(answer, (Retry, Refused))
            if answer.status == 413 and self._journals.shrink():
                return 0.0
            return self._fail(answer)
        self.state.num_bytes += num_bytes
        refusal = self._journals.take(receipt, shares, limits)
        self.progress.touch()
        if refusal is not None:
            return self._fail(refusal)
        self._succeed()
        self._sent_at = self._clock()
        # Whoever has just ended may be waiting for word that everything is there.
        has_ended = not self._journals.ended <= set(self.state.settled)
        return 0.0 if self._journals.has_more or has_ended else self._rhythm()

    def _rhythm(self) -> float:
        """Return how long to wait for something new; a run of a thousand writers is not looked at that often."""
        is_quiet = self._clock() - self._sent_at > _QUIET_AFTER_S
        return max(_QUIET_S if is_quiet else RHYTHM_S, 100 * self._journals.scan_s)

    # -- files, the end ----------------------------------------------------------------------------------------------

    def _note_event(self, found: Event) -> None:
        if isinstance(found, SavedFile):
            self._policies[found.path] = found.policy
        elif isinstance(found, ArtifactUse) and found.action == "log":
            self._logged.append(found)

    def _advance_rest(self, over: set[str], is_live: bool) -> float:
        """Everything in the journals is at the server: see to the files, then whether something has come to its end."""
        looked = self._look_for_cargo(over, is_live)
        if isinstance(looked, float):
            return looked
        settled, was_live = looked
        self.progress.settle(settled)
        if (problem := self._journals.problem) is not None:
            return self._fail(Refused(f"a journal cannot be read: {problem}; see `strobe journal verify`"))
        self._succeed()  # files may have been the last to fail, and the last to arrive
        self.is_caught_up = True
        if not is_live and not was_live:
            self.state.is_complete = True
            self.progress.hurry()
            self.post.set_running(self.state.run, False)
        return self._rhythm()

    def _look_for_cargo(self, over: set[str], is_live: bool) -> float | tuple[set[str], bool]:
        """Return who had ended, and whether the run lived, when the files were looked for that are all sent now.

        While some are on their way, return the seconds to wait instead.
        """
        if not self._cargo:
            return over, is_live
        if self._look is None:
            now = self._clock()
            is_wanted = not is_live or not over <= set(self.state.settled)
            if now < self._look_at and (self._is_cargo_refused or not is_wanted):
                return self._rhythm() if self._is_cargo_refused else (set(), is_live)
            self._look_at = now + _LOOK_S
            num_found = sum(cargo.scan(is_final=not is_live) for cargo in self._cargo)
            self._count_left()
            if not num_found:
                return over, is_live
            self.is_caught_up = False
            self._look = (Look(self._cargo, partial(self.post.link.hold_s, "things")), over, is_live)
            if self._freight is not None:
                self._freight(self._look[0])
        return self._follow(*self._look)

    def _follow(self, look: Look, over: set[str], was_live: bool) -> float | tuple[set[str], bool]:
        wait_s = look.advance() if self._freight is None and not look.is_done else RHYTHM_S
        self._count_left()
        self.progress.touch()
        if isinstance(look.failure, Retry):
            return self._fail(look.failure)
        if not look.is_done:
            return wait_s if wait_s is not None else 0.0
        self._look, self._is_cargo_refused = None, look.failure is not None
        if look.failure is None:
            return over, was_live
        # The journals go on: points are taken where files are not.
        self.progress.note_failure(look.failure)
        self._look_at = self._clock() + REFUSED_S
        return RHYTHM_S

    def _count_left(self) -> None:
        self.state.num_files_left = sum(cargo.num_left for cargo in self._cargo)
        self.state.left_bytes = self._journals.left_bytes + sum(cargo.left_bytes for cargo in self._cargo)

    def _succeed(self) -> None:
        # That points are taken does not settle what is wrong with the files.
        if not self._is_cargo_refused and (self._look is None or self._look[0].failure is None):
            self.progress.note_success()

    def _fail(self, answer: Retry | Refused) -> float:
        self.progress.note_failure(answer)
        if isinstance(answer, Refused):
            self._parked_until = self._clock() + REFUSED_S
            return REFUSED_S
        return max(_RETRY_S, self.post.link.hold_s())
