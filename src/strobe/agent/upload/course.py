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
from strobe.agent.upload.parcel import MAX_CELLS, MAX_ENTRIES, Share
from strobe.agent.upload.post import Post
from strobe.agent.upload.stream import Stream
from strobe.home import RunDir, RunPath
from strobe.journal.event import ArtifactUse, Event, SavedFile
from strobe.journal.tail import segment_sizes
from strobe.remote.answer import Answer, Refused, Retry
from strobe.remote.state import SyncState, read_state, write_state
from strobe.wire.batch import Ack, Receipt

#: how soon something new goes out, and how often is looked for it when nothing came lately
RHYTHM_S = 0.25
_QUIET_S = 0.5
_QUIET_AFTER_S = 5.0
#: the file that says how far we are is replaced this often at most
_SAVE_S = 1.0
#: a refusal needs a person; until then is asked again rarely
REFUSED_S = 600.0
#: how much goes in one request, before compression
_LARGEST_REQUEST = 32 << 20
_SMALLEST_BATCH = 32 << 10
#: at least this long after an answer that was none, even where the link itself is well
_RETRY_S = 0.2
#: how often a run that lives is searched for new files
_LOOK_S = 2.0

MakeCargo = Callable[[SyncState, Mapping[str, str], Sequence[ArtifactUse]], Sequence[Cargo]]


class Course:
    """One run on its way to one server."""

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
        known = read_state(run_dir.path)
        server, self._destination = post.link.target.base_url, destination
        place = "" if destination is None else str(destination)
        if known is None or (known.server, known.destination) != (server, place):
            known = SyncState(server=server, destination=place)
        self.state = known
        self.state.error, self.state.is_refused, self.state.is_complete = "", False, False
        #: writers that are known to have ended, from elsewhere than their journals
        self._ended = ended
        self._is_live = is_live
        #: what the journals said of saved files and logged artifacts
        self._policies: dict[str, str] = {}
        self._logged: list[ArtifactUse] = []
        self._cargo = list(cargo(self.state, self._policies, self._logged)) if cargo else []
        self._freight = freight
        self._look: tuple[Look, set[str], bool] | None = None
        self._looked_at = float("-inf")
        self._is_cargo_refused = False
        self._clock = clock
        self._streams: dict[str, Stream] = {}
        self._parked_until = 0.0
        self._saved_at = float("-inf")
        self._is_dirty = False
        self._turn = 0
        self._max_bytes = _LARGEST_REQUEST
        self._is_abandoned = False
        self._sent_at = float("-inf")
        self._scan_s = 0.0

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
        write_state(self.run_dir.path, self.state)

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
            next_s = self._advance_cargo(ended, is_live)
        self._save()
        return None if self.state.is_complete else next_s

    # -- journals ----------------------------------------------------------------------------------------------------

    def _advance_journals(self) -> float | None:
        """Send what the journals have; None if there was nothing."""
        began = self._clock()
        sizes = segment_sizes(self.run_dir.journal)
        self._scan_s = self._clock() - began
        for writer in sizes.keys() - self._streams.keys():
            hint = self.state.writers.get(writer)
            self._streams[writer] = Stream(
                self.run_dir.journal, writer, hint, destination=self._destination, note=self._note_event
            )
        is_full = self._fill(sizes)
        shares = self._shares()
        self._count_left(sizes)
        if not shares:
            return None
        self.is_caught_up = False
        receipt, answer, num_bytes = self.post.send(shares)
        if receipt is None:
            if isinstance(answer, Refused) and answer.status == 413 and self._max_bytes > _SMALLEST_BATCH:
                # A proxy on the way may take less than the server says.
                self._max_bytes //= 2
                return 0.0
            return self._note_failure(answer)
        self.state.num_bytes += num_bytes
        refusal = self._take(receipt, shares)
        self._is_dirty = True
        if refusal is not None:
            return self._note_failure(refusal)
        self._note_success()
        self._sent_at = self._clock()
        # Whoever has just ended may be waiting for word that everything is there.
        has_ended = any(stream.is_ended for writer, stream in self._streams.items() if writer not in self.state.settled)
        return 0.0 if is_full or has_ended else self._rhythm()

    def _rhythm(self) -> float:
        """Return how long to wait for something new; a run of a thousand writers is not looked at that often."""
        is_quiet = self._clock() - self._sent_at > _QUIET_AFTER_S
        return max(_QUIET_S if is_quiet else RHYTHM_S, 100 * self._scan_s)

    def _fill(self, sizes: dict[str, dict[str, int]]) -> bool:
        """Read what is new; True if there is more than fits into a parcel."""
        entries, cells = MAX_ENTRIES, MAX_CELLS
        writers = sorted(sizes)
        self._turn += 1  # another writer's turn to be first, so that one that never stops starves nobody
        first = self._turn % len(writers) if writers else 0
        for writer in writers[first:] + writers[:first]:
            if entries <= 0 or cells <= 0:
                return True
            stream = self._streams[writer]
            has_entries, has_cells = stream.fill(sizes[writer], entries, cells)
            entries -= has_entries
            cells -= has_cells
        return not all(self._streams[writer].is_exhausted or self._streams[writer].problem for writer in writers)

    def _shares(self) -> list[Share]:
        limits = self.post.link.limits
        left = min(limits.request_bytes, 4 * limits.batch_bytes, self._max_bytes)
        found: list[Share] = []
        for stream in self._streams.values():
            for share in stream.shares(min(limits.batch_bytes, left), MAX_ENTRIES):
                if len(share.body) > left and found:
                    return found  # the rest goes with the next parcel
                left -= len(share.body)
                found.append(share)
        return found

    def _take(self, receipt: Receipt, shares: list[Share]) -> Refused | None:
        refusal: Refused | None = None
        gone_back: set[str] = set()
        for ack, share in zip(receipt.acks, shares, strict=False):
            self.state.run = ack.run or self.state.run
            if ack.status == "refused":
                refusal = Refused(f"the server refuses {ack.run or self.run_dir.run_path}: {ack.reason}")
            elif share.writer not in gone_back:
                self._take_ack(ack, share, gone_back)
        if len(receipt.acks) < len(shares) and refusal is None:
            return Refused(f"the server acknowledged {len(receipt.acks)} of {len(shares)} batches")
        return refusal

    def _take_ack(self, ack: Ack, share: Share, gone_back: set[str]) -> None:
        stream = self._streams[share.writer]
        if not stream.acknowledge(ack.next):
            gone_back.add(share.writer)
        elif ack.next >= share.end.sequence and ack.status == "stored":
            self.state.num_rows += share.num_rows
            if share.is_left_out:
                self.state.num_left_out += 1
                self.state.error = (
                    f"record {share.begin.sequence} of writer {share.writer} is larger than the "
                    f"{self.post.link.limits.batch_bytes:,} bytes that the server takes; it was left out"
                )
        self.state.writers[share.writer] = stream.acked

    # -- files, the end ----------------------------------------------------------------------------------------------

    def _note_event(self, found: Event) -> None:
        if isinstance(found, SavedFile):
            self._policies[found.path] = found.policy
        elif isinstance(found, ArtifactUse) and found.action == "log":
            self._logged.append(found)

    def _advance_cargo(self, ended: set[str], is_live: bool) -> float:
        """Everything in the journals is at the server: see to the files, then whether something has come to its end."""
        problem = next((stream.problem for stream in self._streams.values() if stream.problem), None)
        over = {writer for writer, stream in self._streams.items() if stream.is_ended} | ended
        looked = self._look_for_cargo(over, is_live)
        if isinstance(looked, float):
            return looked
        settled, was_live = looked
        self._settle(settled)
        if problem is not None:
            return self._note_failure(Refused(f"a journal cannot be read: {problem}; see `strobe journal verify`"))
        self.is_caught_up = True
        if not is_live and not was_live:
            self.state.is_complete = True
            self._save_soon()
            self.post.set_running(self.state.run, False)
        return self._rhythm()

    def _look_for_cargo(self, over: set[str], is_live: bool) -> float | tuple[set[str], bool]:
        """Return who had ended, and whether the run lived, when the files were looked for that are all sent now.

        While some are on their way, return the seconds to wait instead.
        """
        if self._look is None:
            if self._is_cargo_refused and self._clock() < self._looked_at:
                return self._rhythm()
            is_due = not is_live or over - set(self.state.settled) or self._clock() - self._looked_at > _LOOK_S
            if not self._cargo or not is_due:
                return (over if not self._cargo else set()), is_live
            self._looked_at = self._clock()
            self.state.num_files_left = sum(cargo.scan(is_final=not is_live) for cargo in self._cargo)
            if not self.state.num_files_left:
                return over, is_live
            hold_s = partial(self.post.link.hold_s, "things")
            self._look = (Look(self._cargo, hold_s), over, is_live)
            self.is_caught_up = False
            if self._freight is not None:
                self._freight(self._look[0])
        look, was_over, was_live = self._look
        wait_s = look.advance() if self._freight is None and not look.is_done else RHYTHM_S
        self.state.num_files_left = sum(cargo.num_left for cargo in self._cargo)
        self._is_dirty = True
        if isinstance(look.failure, Retry):
            return self._note_failure(look.failure)
        if not look.is_done:
            return wait_s if wait_s is not None else 0.0
        self._look = None
        if look.failure is not None:
            # The journals go on: points are taken where files are not.
            self._note_failure(look.failure)
            self._parked_until, self._looked_at = 0.0, self._clock() + REFUSED_S
            self._is_cargo_refused = True
            return RHYTHM_S
        self._is_cargo_refused = False
        return was_over, was_live

    def _settle(self, over: set[str]) -> None:
        if over - set(self.state.settled):
            self.state.settled = sorted(over | set(self.state.settled))
            self._save_soon()
        if self._is_dirty:
            self.state.synced_ns = time.time_ns()

    # -- what is known -----------------------------------------------------------------------------------------------

    def _count_left(self, sizes: dict[str, dict[str, int]]) -> None:
        left = sum(self._streams[writer].left_bytes(found) for writer, found in sizes.items())
        self.state.left_bytes = left

    def _note_success(self) -> None:
        if self._is_cargo_refused:
            return
        if self.state.is_refused or (self.state.error and not self.state.num_left_out):
            self.state.error, self.state.is_refused, self.state.is_unreachable = "", False, False
            self._is_dirty = True

    def _note_failure(self, answer: Answer) -> float:
        assert isinstance(answer, (Retry, Refused))
        is_refused = isinstance(answer, Refused)
        if (answer.why, is_refused) != (self.state.error, self.state.is_refused):
            self.state.error, self.state.is_refused = answer.why, is_refused
            self.state.is_unreachable = isinstance(answer, Retry) and not answer.status
            self._save_soon()
        if is_refused:
            self._parked_until = self._clock() + REFUSED_S
            return REFUSED_S
        return max(_RETRY_S, self.post.link.hold_s())

    def _save_soon(self) -> None:
        self._is_dirty, self._saved_at = True, float("-inf")

    def _save(self) -> None:
        now = self._clock()
        if self._is_dirty and now - self._saved_at >= _SAVE_S:
            self.state.updated_ns = time.time_ns()
            self.state.num_moved = self.post.link.num_sent
            try:
                write_state(self.run_dir.path, self.state)
            except OSError:
                return  # a full disk, or a run that was deleted: tried again with the next step
            self._is_dirty, self._saved_at = False, now
