"""The numbers that fields have in wandb's records, as its client 0.31 writes them; older ones used the same.

Only those that are read. Facts, no code: a record of a kind that is not here is left out.
"""

from __future__ import annotations


class Record:
    """What a record may be."""

    HISTORY = 2
    SUMMARY = 3
    OUTPUT = 4
    CONFIG = 5
    STATS = 7
    ARTIFACT = 8
    TENSORBOARD = 9
    ALERT = 10
    METRIC = 12
    OUTPUT_RAW = 13
    RUN = 17
    EXIT = 18
    HEADER = 21
    PREEMPTING = 23
    USE_ARTIFACT = 25
    ENVIRONMENT = 26


class Run:
    ID = 1
    ENTITY = 2
    PROJECT = 3
    CONFIG = 4
    GROUP = 6
    JOB_TYPE = 7
    NAME = 8
    NOTES = 9
    TAGS = 10
    SWEEP = 12
    HOST = 13
    START_TIME = 17
    GIT = 21
    BRANCH_POINT = 23


class Git:
    REMOTE = 1
    COMMIT = 2


class Time:
    SECONDS = 1
    NANOS = 2


class Changes:
    """Of config and summary."""

    UPDATE = 1
    REMOVE = 2


class Item:
    """A key and its value, in history, config, summary and samples of the machine."""

    KEY = 1
    NESTED_KEY = 2
    BOOLEAN = 4
    INTEGER = 5
    NUMBER = 6
    TEXT = 7
    JSON = 8
    VALUE_JSON = 16


class History:
    ITEM = 1
    STEP = 2
    STEP_NUMBER = 1


class Stats:
    TIME = 2
    ITEM = 3


class Output:
    STREAM = 1
    TIME = 2
    TEXT = 3
    STDOUT = 1


class Exit:
    CODE = 1
    RUNTIME = 2


class Metric:
    NAME = 1
    GLOB = 2
    STEP_METRIC = 4
    OPTIONS = 6
    SUMMARY = 7
    GOAL = 8
    CONTROL = 9
    STEP_SYNC = 1
    HIDDEN = 2
    OVERWRITE = 1
    GOALS = (None, "minimize", "maximize")
    SUMMARIES = ((1, "min"), (2, "max"), (3, "mean"), (4, "best"), (5, "last"), (6, "none"), (7, "copy"), (8, "first"))


class Artifact:
    TYPE = 4
    NAME = 5
    DESCRIPTION = 7
    METADATA = 8
    ALIASES = 11
    MANIFEST = 12
    CLIENT_ID = 15
    TAGS = 19
    CONTENTS = 4


class Entry:
    PATH = 1
    DIGEST = 2
    REFERENCE = 3
    SIZE = 4
    LOCAL_PATH = 6


class Alert:
    TITLE = 1
    TEXT = 2
    LEVEL = 3


class Header:
    VERSION = 1
    PRODUCER = 1


class Environment:
    OS = 1
    PYTHON = 2
    ARGS = 5
    PROGRAM = 6
    GIT = 9
    EMAIL = 10
    ROOT = 11
    HOST = 12
    USER = 13
    EXECUTABLE = 14
    CPU_LOGICAL = 17
    DISK = 20
    MEMORY = 21
    CPU = 22
    GPU_NVIDIA = 24
    CUDA = 25
    SLURM = 27
    CPU_MODEL = 3
    GPU_NAME = 1
    GPU_MEMORY = 2
    GPU_UUID = 5
