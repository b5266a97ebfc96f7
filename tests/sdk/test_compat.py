"""Scripts written for wandb, with `import strobe as wandb` as the only change: what the big callbacks call."""

from __future__ import annotations

import pytest

from strobe.home import Home
from strobe.journal import Replay
from tests.sdk.scripts import column, environment, execute, only_replay

pytestmark = pytest.mark.slow

HUGGING_FACE = """
import os
import strobe as wandb

class State:
    is_world_process_zero, trial_name, max_steps = True, None, 30

class Callback:
    def setup(self, args, state, model):
        self._wandb = wandb
        self._initialized = True
        if state.is_world_process_zero:
            combined = {**args, **model["config"]}
            init_args = {"name": args["run_name"]}
            if self._wandb.run is None or not isinstance(self._wandb.run, self._wandb.Run):
                self._wandb.init(project=os.getenv("WANDB_PROJECT", "huggingface"), **init_args)
            self._wandb.config.update(combined, allow_val_change=True)
            if getattr(self._wandb, "define_metric", None):
                self._wandb.define_metric("train/global_step")
                self._wandb.define_metric("*", step_metric="train/global_step", step_sync=True)
            try:
                self._wandb.config["model/num_parameters"] = model["parameters"]
            except AttributeError:
                self._wandb.termwarn("Could not log the number of model parameters", repeat=False)
            self._wandb.run._label(code="transformers_trainer")

    def on_log(self, logs, step):
        single = {key: value for key, value in logs.items() if key in ("train_runtime", "total_flos")}
        for key, value in single.items():
            self._wandb.run.summary[key] = value
        rest = {f"train/{key}": value for key, value in logs.items() if key not in single}
        self._wandb.log({**rest, "train/global_step": step})

    def on_train_end(self):
        artifact = self._wandb.Artifact(name=f"model-{self._wandb.run.id}", type="model",
                                        metadata={"final_model": True})
        with artifact.new_file("model.safetensors", mode="wb") as stream:
            stream.write(b"weights")
        self._wandb.run.log_artifact(artifact, aliases=["final"])

callback = Callback()
callback.setup({"run_name": "bert", "learning_rate": 5e-5}, State(), {"config": {"hidden_size": 768}, "parameters": 10})
for step in range(10, 40, 10):
    callback.on_log({"loss": 1 / step, "epoch": step / 10, "grad_norm": 0.5}, step)
callback.on_log({"eval_loss": 0.2}, 30)
callback.on_log({"train_runtime": 12.5, "total_flos": 1e12, "train_loss": 0.1}, 30)
callback.on_train_end()
wandb.finish()
"""


def read(code: str, home: Home, **more: str) -> Replay:
    done = execute(code, home, env=environment(home, **more))
    assert done.returncode == 0, done.stderr
    return only_replay(home)


def test_calls_of_the_hugging_face_trainer(home: Home) -> None:
    replay = read(HUGGING_FACE, home, WANDB_PROJECT="glue")
    assert (replay.path.project, replay.attributes["name"], replay.state) == ("glue", "bert", "finished")
    assert replay.config == {
        "run_name": "bert",
        "learning_rate": 5e-5,
        "hidden_size": 768,
        "model/num_parameters": 10,
    }
    assert column(replay, "train/loss") == [0.1, 0.05, 1 / 30]
    assert column(replay, "train/global_step") == [10, 20, 30, 30, 30]
    assert (replay.summary["train_runtime"], replay.summary["train/eval_loss"]) == (12.5, 0.2)
    definition = replay.definition("train/loss")
    assert definition is not None
    assert (definition.step_metric, definition.step_sync) == ("train/global_step", True)
    assert replay.attributes["labels"] == {"code": "transformers_trainer"}
    assert [(use.action, use.kind, "final" in use.aliases) for use in replay.artifacts] == [("log", "model", True)]


def test_the_trainer_joins_a_run_that_the_script_started(home: Home) -> None:
    replay = read("import strobe as wandb\nwandb.init(project='mine', config={'seed': 1})\n" + HUGGING_FACE, home)
    assert replay.path.project == "mine"
    assert replay.config["seed"] == 1
    assert column(replay, "train/loss")


LIGHTNING = """
import argparse, os
import strobe as wandb
from strobe import Run

class WandbLogger:
    def __init__(self, project, name=None, version=None, offline=False, log_model=False, prefix="", **kwargs):
        if offline:
            os.environ["WANDB_MODE"] = "dryrun"
        self._init = dict(name=name, project=project, dir=None, id=version, resume="allow", **kwargs)
        wandb.require("service")
        wandb.setup()
        self._experiment, self._log_model, self._prefix = None, log_model, prefix

    @property
    def experiment(self):
        if self._experiment is None:
            if wandb.run is not None and isinstance(wandb.run, Run):
                self._experiment = wandb.run
            else:
                self._experiment = wandb.init(**self._init)
                assert isinstance(self._experiment, Run)
                if getattr(self._experiment, "define_metric", None):
                    self._experiment.define_metric("trainer/global_step")
                    self._experiment.define_metric("*", step_metric="trainer/global_step", step_sync=True)
        return self._experiment

    def log_hyperparams(self, params):
        self.experiment.config.update(vars(params), allow_val_change=True)

    def log_metrics(self, metrics, step=None):
        if step is not None:
            self.experiment.log(dict(metrics, **{"trainer/global_step": step}))
        else:
            self.experiment.log(metrics)

    def log_table(self, key, columns, data, step=None):
        self.log_metrics({key: wandb.Table(columns=columns, data=data)}, step)

    def log_image(self, key, images, step=None):
        self.log_metrics({key: [wandb.Image(image, caption=str(i)) for i, image in enumerate(images)]}, step)

    def after_save_checkpoint(self, path):
        metadata = {"score": 0.5, "original_filename": os.path.basename(path)}
        artifact = wandb.Artifact(name=f"model-{self.experiment.id}", type="model", metadata=metadata)
        artifact.add_file(path, name="model.ckpt")
        self.experiment.log_artifact(artifact, aliases=["latest", "best"])

logger = WandbLogger("lightning", name="run", offline=True, log_model=True, tags=["t"])
logger.log_hyperparams(argparse.Namespace(lr=0.1, layers=[1, 2], optimizer={"name": "adam"}))
for step in range(3):
    logger.log_metrics({"train_loss": 1.0 / (step + 1), "epoch": 0}, step)
logger.log_metrics({"val_loss": 0.3}, 2)
logger.log_table("samples", ["input", "output"], [["a", 1], ["b", 2]], 2)
logger.log_image("pictures", [[[0, 1], [1, 0]]], 2)
with open("epoch=0.ckpt", "wb") as stream:
    stream.write(b"checkpoint")
logger.after_save_checkpoint("epoch=0.ckpt")
artifact = logger.experiment.use_artifact(f"model-{logger.experiment.id}:best", type="model")
assert open(os.path.join(artifact.download("here"), "model.ckpt"), "rb").read() == b"checkpoint"
logger.experiment.finish()
found = wandb.Api().artifact(f"lightning/model-{logger.experiment.id}:v0", type="model")
assert found.metadata["score"] == 0.5
"""


def test_calls_of_lightnings_logger(home: Home) -> None:
    pytest.importorskip("numpy")
    replay = read(LIGHTNING, home)
    assert replay.config == {"lr": 0.1, "layers": [1, 2], "optimizer": {"name": "adam"}}
    assert column(replay, "train_loss") == [1.0, 0.5, 1 / 3]
    assert column(replay, "trainer/global_step") == [0, 1, 2, 2, 2, 2]
    assert column(replay, "samples")[0]["_type"] in {"table", "table-file"}
    assert [use.action for use in replay.artifacts] == ["log", "use"]
    assert replay.attributes["tags"] == ["t"]


KERAS = """
import strobe as wandb

class WandbMetricsLogger:
    def __init__(self, log_freq="epoch", initial_global_step=0):
        if wandb.run is None:
            raise wandb.Error("You must call `wandb.init()` before WandbMetricsLogger()")
        self.logging_batch_wise = log_freq == "batch"
        self.global_step, self.global_batch = initial_global_step, 0
        wandb.define_metric("batch/batch_step")
        wandb.define_metric("batch/*", step_metric="batch/batch_step")
        wandb.define_metric("epoch/epoch")
        wandb.define_metric("epoch/*", step_metric="epoch/epoch")
    def on_epoch_end(self, epoch, logs=None):
        logs = {f"epoch/{key}": value for key, value in (logs or {}).items()}
        logs["epoch/epoch"] = epoch
        wandb.log(logs)
    def on_train_batch_end(self, batch, logs=None):
        logs = {f"batch/{key}": value for key, value in (logs or {}).items()}
        logs["batch/batch_step"] = self.global_step
        wandb.log(logs)
        self.global_step += 1

class WandbEvalCallback:
    def __init__(self):
        self.data_table = wandb.Table(columns=["idx", "label"], allow_mixed_types=True)
        self.data_table.add_data(0, "cat")
        self.data_table_ref = wandb.run.log_artifact(self._artifact("val", self.data_table), aliases=["latest"])
        self.data_table_ref.wait()
    def _artifact(self, name, table):
        artifact = wandb.Artifact(f"run_{wandb.run.id}_{name}", type="dataset")
        artifact.add(table, name)
        return artifact
    def log_predictions(self, epoch):
        table = wandb.Table(columns=["epoch", "idx", "label", "predicted"], allow_mixed_types=True)
        for row in self.data_table_ref.get("val").data:
            table.add_data(epoch, *row, "dog")
        wandb.run.log_artifact(self._artifact("pred", table), aliases=["latest", f"epoch_{epoch}"])
        wandb.log({"predictions": table}, commit=False)

try:
    WandbMetricsLogger()
except wandb.Error as error:
    print("refused:", type(error).__name__)
with wandb.init(project="keras", config={"epochs": 2}) as run:
    metrics, evaluation = WandbMetricsLogger("batch"), WandbEvalCallback()
    for epoch in range(wandb.config.epochs):
        for batch in range(2):
            metrics.on_train_batch_end(batch, {"loss": 1.0 - 0.1 * batch})
        evaluation.log_predictions(epoch)
        metrics.on_epoch_end(epoch, {"loss": 0.5, "val_loss": 0.6})
    open("model.keras", "w").close()
    run.log_model("model.keras", name=f"run_{run.id}_model", aliases=[f"epoch_{epoch}"])
    wandb.save("model.keras")
    run.alert(title="Done", text="training is over", level=wandb.AlertLevel.INFO)
"""


def test_calls_of_keras_callbacks(home: Home) -> None:
    done = execute(KERAS, home)
    assert (done.returncode, done.stdout) == (0, "refused: Error\n"), done.stderr
    replay = only_replay(home)
    assert column(replay, "batch/loss") == [1.0, 0.9, 1.0, 0.9]
    assert column(replay, "epoch/val_loss") == [0.6, 0.6]
    # commit=False: the table is in the row of the epoch's end
    assert all("epoch/loss" in row for row in replay.rows() if "predictions" in row)
    definition = replay.definition("batch/loss")
    assert definition is not None
    assert definition.step_metric == "batch/batch_step"
    assert len(replay.artifacts) == 4
    assert "model.keras" in replay.files
    assert [alert.title for alert in replay.alerts] == ["Done"]


ORDINARY = """
import argparse, math, random
import strobe as wandb

wandb.login()
args = argparse.Namespace(lr=0.01, epochs=3, batch_size=64)
run = wandb.init(
    project="mnist", entity=None, name="baseline", group="g", job_type="train", tags=["a"], notes="n",
    config=vars(args), save_code=True, reinit=True, settings=wandb.Settings(start_method="thread", _disable_stats=True),
)
config = wandb.config
for epoch in range(config.epochs):
    loss = math.exp(-epoch) + random.random() / 100
    wandb.log({"epoch": epoch, "loss": loss, "nested": {"acc": 1 - loss}}, step=epoch)
    wandb.log({"examples": [wandb.Html("<b>x</b>")], "hist": wandb.Histogram([1, 2, 3, 3])}, step=epoch)
wandb.log({"curve": wandb.plot.line_series(xs=[0, 1], ys=[[0, 1], [1, 0]], keys=["a", "b"], title="t", xname="x")})
table = wandb.Table(columns=["x", "y"], data=[[1, 2], [3, 4]])
wandb.log({"scatter": wandb.plot.scatter(table, "x", "y", title="s")})
wandb.run.summary["best_accuracy"] = 0.9
wandb.run.summary.update({"f1": 0.8})
print(wandb.run.name, wandb.run.id != "", wandb.run.get_url(), wandb.util.generate_id() != "")
run.finish(exit_code=0)
"""


def test_an_ordinary_script(home: Home) -> None:
    done = execute(ORDINARY, home)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "baseline True None True\n"
    replay = only_replay(home)
    assert replay.config == {"lr": 0.01, "epochs": 3, "batch_size": 64}
    assert column(replay, "epoch") == [0, 1, 2]
    assert (replay.summary["best_accuracy"], replay.summary["f1"]) == (0.9, 0.8)
    assert "nested.acc" in replay.metrics
    assert "script.py" in replay.files


@pytest.mark.parametrize(
    "script", [HUGGING_FACE, LIGHTNING, KERAS, ORDINARY], ids=["hf", "lightning", "keras", "plain"]
)
def test_the_same_scripts_run_disabled(home: Home, script: str) -> None:
    if script is LIGHTNING:
        # It reads back what it stored, which a disabled run has not.
        script = script.split("artifact = logger.experiment.use_artifact")[0] + "logger.experiment.finish()"
        script = script.replace('os.environ["WANDB_MODE"] = "dryrun"', "pass")
    done = execute(script, home, env=environment(home, WANDB_MODE="disabled"))
    assert done.returncode == 0, done.stderr
    assert not home.runs.exists()


def test_frameworks_find_the_run_class_where_wandb_has_it(home: Home) -> None:
    import strobe as wandb
    import strobe.sdk.wandb_run

    with wandb.init(project="p") as run:
        assert isinstance(run, wandb.sdk.wandb_run.Run)
    with wandb.init(project="p", mode="disabled") as run:
        assert isinstance(run, wandb.sdk.wandb_run.Run)
