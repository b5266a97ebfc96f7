"""The numbers that fields have in TensorBoard's and TensorFlow's messages. Facts, no code; only those that are read."""

from __future__ import annotations


class Event:
    WALL_TIME = 1
    STEP = 2
    FILE_VERSION = 3
    SUMMARY = 5
    SESSION_LOG = 7
    #: what has no place in a run here
    LEFT_OUT = ((4, "graph"), (6, "log message"), (8, "run metadata"), (9, "graph"))


class SessionLog:
    STATUS = 1
    START = 1


class Summary:
    VALUE = 1


class Value:
    TAG = 1
    SIMPLE = 2
    OLD_HISTOGRAM = 3
    IMAGE = 4
    HISTOGRAM = 5
    AUDIO = 6
    TENSOR = 8
    METADATA = 9


class Metadata:
    PLUGIN = 1
    PLUGIN_NAME = 1
    PLUGIN_CONTENT = 2


class Image:
    CONTENT = 4


class Audio:
    CONTENT = 4


class Histogram:
    MIN = 1
    MAX = 2
    LIMITS = 6
    COUNTS = 7


class Tensor:
    DTYPE = 1
    SHAPE = 2
    CONTENT = 4
    STRINGS = 8
    DIMENSION = 2
    SIZE = 1


class Hparams:
    SESSION_START = 3
    SESSION_END = 4
    VALUES = 1
    GROUP = 4
    STATUS = 1
    END_TIME = 2
    SUCCESS, FAILURE = 1, 2


class Json:
    """google.protobuf.Value."""

    NUMBER = 2
    TEXT = 3
    BOOLEAN = 4
    LIST = 6
    LIST_VALUES = 1
