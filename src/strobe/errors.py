"""Everything Strobe raises, in one tree.

    Error                      base of all; also `strobe.Error`
    ├── UsageError             the caller asked for something that makes no sense (also a ValueError)
    │   ├── NotInitialized     a module-level call before init()
    │   ├── RunFinished        a call on a run that has ended
    │   ├── RunExists          resume="never", and the run is there
    │   ├── RunNotFound        no such run (resume="must", or reading)
    │   ├── StepOrder          strict_steps=True and the step went backwards
    │   └── SettingsError      a setting has a value it cannot have
    ├── JournalError           a journal file cannot be read as one
    │   └── JournalVersion     written by a newer Strobe
    ├── NotImportable          a file of another tracker cannot be read as one, or its run has no place here
    ├── ArtifactError          an artifact is missing, changed or contradictory
    │   └── ArtifactNotLogged  it has no version yet (also an AttributeError, so that hasattr() works)
    ├── MissingExtra           a library that an optional capability needs is not installed
    ├── CommError              a server could not be reached or refused
    └── StoreError             the server's store cannot do it
        ├── StoreBusy          not now: a lost connection, a lock held too long; the same again may work
        ├── StoreFull          no space, or a quota is used up
        ├── StoreVersion       written by another version of Strobe
        ├── StoreConflict      it contradicts what is there: a name that is taken, a version that is not the newest
        │   └── StoreChanged   what was to be replaced is not what is there
        └── NotInStore         there is no such thing in the store

A message says what happened, the value seen and what to do next, in one line.
"""

from __future__ import annotations


class Error(Exception):
    """Base of every exception that Strobe raises on purpose."""


class UsageError(Error, ValueError):
    """The caller asked for something that makes no sense."""


class NotInitialized(UsageError):
    """A module-level call such as `strobe.log` came before `strobe.init`."""


class RunFinished(UsageError):
    """The run has ended; it takes no more values."""


class RunExists(UsageError):
    """`resume="never"`, and a run of that id is there."""


class RunNotFound(UsageError):
    """There is no such run."""


class StepOrder(UsageError):
    """`strict_steps=True` and the step went backwards."""


class SettingsError(UsageError):
    """A setting has a value it cannot have."""


class JournalError(Error):
    """A journal file cannot be read as one."""


class JournalVersion(JournalError):
    """The journal was written by a newer Strobe."""


class NotImportable(Error):
    """What another tracker has left cannot be brought over: no file of its kind, or another run has the place."""


class ArtifactError(Error):
    """An artifact is missing, was changed, or contradicts itself."""


class ArtifactNotLogged(ArtifactError, AttributeError):
    """Only a logged artifact has this; log it, and `wait()` if it's large."""


class MissingExtra(Error, ImportError):
    """A library that an optional capability needs is not installed."""


class CommError(Error):
    """A server could not be reached or refused."""


class StoreError(Error):
    """The server's store cannot do what was asked."""


class StoreBusy(StoreError):
    """Not now: the database cannot be reached or is locked; the same again may work."""


class StoreFull(StoreError):
    """There is no space left, or a quota is used up."""


class StoreVersion(StoreError):
    """The store was written by another version of Strobe."""


class StoreConflict(StoreError):
    """It contradicts what the store has: the name is taken, or somebody else was quicker."""


class StoreChanged(StoreConflict):
    """What was to be replaced is not what is there: somebody has replaced it meanwhile."""


class NotInStore(StoreError):
    """There is no such thing in the store."""


class StrobeWarning(UserWarning):
    """Base of every warning that Strobe gives; each cause warns once."""
