"""TensorBoard's event files, as TensorFlow, PyTorch, tensorboardX and others write them. None of them is needed."""

from strobe.importers.tensorboard.run import TensorBoardRun, find_runs

__all__ = ["TensorBoardRun", "find_runs"]
