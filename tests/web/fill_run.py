"""Fills a home with runs for the run page: everything that one run can have. `python fill_run.py SET…`."""

from __future__ import annotations

import math
import os
import random
import struct
import sys
import tempfile
import time
import zlib
from pathlib import Path

import strobe
from strobe.home import LOCAL_ENTITY, Home, RunPath
from strobe.journal import Header, Writer

PROJECT = "page"
STEPS = 120


def _png(width: int, height: int, phase: int) -> bytes:
    """Return a small picture: no imaging library is needed to have one."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            rows += bytes(((x * 4 + phase * 9) % 256, (y * 5 + phase * 3) % 256, (x * y // 4 + phase * 17) % 256))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
    )


def _wav(seconds: float, pitch: float) -> bytes:
    rate = 8000
    samples = [int(12_000 * math.sin(2 * math.pi * pitch * i / rate)) for i in range(int(seconds * rate))]
    body = struct.pack(f"<{len(samples)}h", *samples)
    form = struct.pack("<HHIIHH", 1, 1, rate, rate * 2, 2, 16)
    return (
        b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt " + struct.pack("<I", 16) + form
        + b"data" + struct.pack("<I", len(body)) + body
    )  # fmt: skip


def _image(place: Path, phase: int, **more: object) -> strobe.Image:
    path = place / f"picture-{phase}.png"
    path.write_bytes(_png(64, 48, phase))
    return strobe.Image(str(path), caption=f"#{phase}", **more)  # type: ignore[arg-type]


def full() -> None:
    """One run with all kinds of things, which uses and logs artifacts and was resumed once."""
    place = Path(tempfile.mkdtemp())
    (place / "data.csv").write_text("a,b\n1,2\n3,4\n")
    with strobe.init(project=PROJECT, id="prepare", name="prepare the data") as run:
        data = strobe.Artifact("digits", type="dataset", metadata={"rows": 2, "source": {"kind": "synthetic"}})
        data.add_file(str(place / "data.csv"))
        run.log_artifact(data, aliases=["train"])
    config = {
        "lr": 0.003,
        "model": {"name": "resnet-18", "layers": [64, 128, 256], "dropout": {"attention": 0.1, "mlp": 0.2}},
        "optimizer": {"name": "adamw", "betas": [0.9, 0.999], "weight_decay": 0.01},
        "data": {"name": "digits", "batch_size": 128},
        "seed": 7,
        "note": None,
        "is_mixed_precision": True,
    }
    run = strobe.init(
        project=PROJECT, id="full", name="everything at once", config=config, tags=["demo", "run page"],
        notes="First try with **all** kinds of media.", group="night", job_type="train",
    )  # fmt: skip
    run.use_artifact("digits:train")
    run.define_metric("val/acc", summary="max")
    _train(run, place, 0, 80)
    run.alert(
        "Loss is NaN", "train/loss was NaN at step 41; look at the data of batch 41.", level=strobe.AlertLevel.WARN
    )
    run.finish(exit_code=1)
    run = strobe.init(project=PROJECT, id="full", resume_from="full?_step=59")
    print("\x1b[33mresumed\x1b[0m after step 59")
    _train(run, place, 60, STEPS)
    model = strobe.Artifact("resnet", type="model", metadata={"val/acc": 0.93})
    (place / "weights.bin").write_bytes(bytes(range(256)) * 400)
    (place / "card.md").write_text("# resnet\n\nTrained on digits.\n")
    model.add_file(str(place / "weights.bin"), name="weights/model.bin")
    model.add_file(str(place / "card.md"), name="card.md")
    run.log_artifact(model, aliases=["best"])
    (place / "notes.txt").write_text("kept by run.save\nsecond line\n")
    (place / "settings.json").write_text('{"threads": 4}\n')
    run.save(str(place / "notes.txt"), base_path=str(place))
    run.save(str(place / "settings.json"), base_path=str(place))
    run.finish()
    with strobe.init(project=PROJECT, id="judge", name="judge the model") as after:
        after.use_artifact("resnet:best")
    fork = strobe.init(project=PROJECT, fork_from="full?_step=50", id="branch", name="a branch of it")
    fork.log({"train/loss": 0.2})
    fork.finish()


def _train(run: strobe.Run, place: Path, first: int, last: int) -> None:
    rng = random.Random(first)
    for step in range(first, last):
        loss = 2.3 * math.exp(-step / 30) + 0.05 * rng.random()
        row: dict[str, object] = {"train/loss": loss, "train/lr": 0.003 * (1 - step / STEPS), "epoch": step // 40}
        if step == 41:
            row["train/loss"] = math.nan
        if step % 10 == 0:
            row |= {"val/loss": loss * 1.1, "val/acc": 0.95 - loss / 2.5}
            print(
                f"\x1b[1;32mstep {step:4d}\x1b[0m  loss \x1b[36m{loss:.4f}\x1b[0m  \x1b[2mval {loss * 1.1:.4f}\x1b[0m"
            )
        if step == 50:
            print("\x1b[38;5;208mwarning:\x1b[0m slow batch, <b>not bold</b>", file=sys.stderr)
        if step % 40 == 0:
            boxes = {
                "predictions": {
                    "box_data": [
                        {
                            "position": {"minX": 8, "maxX": 40, "minY": 6, "maxY": 30},
                            "domain": "pixel",
                            "class_id": 1,
                            "scores": {"score": 0.87},
                        }
                    ],
                    "class_labels": {1: "cat"},
                }
            }
            row["samples"] = _image(place, step, boxes=boxes)
            row["batch"] = [_image(place, step + i) for i in range(5)]
            row["text/html"] = strobe.Html(f"<h3>Report of step {step}</h3><p>Loss <b>{loss:.3f}</b></p>")
            audio = place / f"tone-{step}.wav"
            audio.write_bytes(_wav(0.4, 330 + step))
            row["sound"] = strobe.Audio(str(audio), caption=f"tone at {step}")
            row["cloud"] = strobe.Object3D.from_numpy(_cloud(step))
        if step % 20 == 0:
            spread = 1 / (1 + step / 40)
            row["weights"] = strobe.Histogram([rng.gauss(0, spread) for _ in range(800)], num_bins=32)
            row["predictions"] = _table(place, step, rng)
        if step % 30 == 0:
            row["remark"] = f"at step {step} the loss was {loss:.4f}"
        run.log(row, step=step)


def _cloud(step: int) -> list[list[float]]:
    rng = random.Random(step)
    return [[rng.random(), rng.random(), rng.random()] for _ in range(40)]


def _table(place: Path, step: int, rng: random.Random) -> strobe.Table:
    table = strobe.Table(columns=["id", "label", "guess", "score", "is_right", "picture"])
    for number in range(40):
        label, guess = rng.choice(["cat", "dog", "bird"]), rng.choice(["cat", "dog", "bird"])
        score = math.nan if number == 7 else rng.random()
        table.add_data(number, label, guess, score, label == guess, _image(place, step + number % 3))
    return table


def failed() -> None:
    """A run that failed with an error, with a name as long as people make them."""
    name = "sweep-lr0.003-wd0.01-bs128-augmentation-randaugment-n2-m9-mixup0.2-cutmix1.0-seed7-a100x8-second-try"
    try:
        with strobe.init(project=PROJECT, id="failed", name=name, config={"lr": 0.1}) as run:
            for step in range(30):
                run.log(
                    {"a/very/long/metric/name/that/goes/on/and/on/loss": 1 / (step + 1), "loss": math.exp(step / 5)}
                )
            raise RuntimeError("CUDA out of memory: tried to allocate 2.00 GiB")
    except RuntimeError:
        pass


def empty() -> None:
    """A run with nothing at all."""
    strobe.init(project=PROJECT, id="empty", name="nothing in it", settings={"console": "off"}).finish()


def loud() -> None:
    """A run that printed 50,000 lines."""
    run = strobe.init(project=PROJECT, id="loud", name="loud")
    print(
        "".join(f"line {number} of many{' NEEDLE' if number % 12_500 == 7 else ''}\n" for number in range(50_000)),
        end="",
    )
    run.log({"loss": 1.0})
    run.finish()


def wide() -> None:
    """A table with 20,000 rows, kept in a file."""
    with strobe.init(project=PROJECT, id="wide", name="wide") as run:
        rows = [[i, f"name {i % 500}", (i * 7919) % 10_007 / 10_007, i % 3 == 0] for i in range(20_000)]
        run.log({"big": strobe.Table(columns=["i", "name", "share", "third"], data=rows)})


def sampled() -> None:
    """A run with samples of its system: needs the agent."""
    with strobe.init(project=PROJECT, id="sampled", name="sampled", settings={"stats_interval_s": 0.5}) as run:
        until = time.monotonic() + 6
        step = 0
        while time.monotonic() < until:
            run.log({"loss": math.exp(-step / 20)})
            sum(i * i for i in range(60_000))
            time.sleep(0.05)
            step += 1


def nodes() -> None:
    """A run on two hosts with two ranks each, whose samples are written as the agents there would."""
    start_ns = time.time_ns()
    with strobe.init(project=PROJECT, id="nodes", name="two nodes") as run:
        for step in range(60):
            run.log({"loss": math.exp(-step / 20)}, step=step)
            time.sleep(0.02)
    journal = Home(Path(os.environ["STROBE_HOME"])).run_dir(RunPath(LOCAL_ENTITY, PROJECT, "nodes")).journal
    for rank in range(4):
        host = f"node-{'ab'[rank // 2]}"
        header = Header(
            entity=LOCAL_ENTITY, project=PROJECT, run="nodes", writer=f"sys{rank}", kind="system", host=host, rank=rank
        )
        writer = Writer(journal, header)
        for number in range(20):
            busy = 50 + 10 * rank + 5 * math.sin(number / 3)
            row = {"system.cpu_percent": busy, f"system.gpu.{rank % 2}.gpu": busy / 2}
            writer.row_at(row, number, start_ns + number * 60_000_000)
        writer.close()


def drawn() -> None:
    """A run with moving pictures, figures, a molecule and scenes in space."""
    place = Path(tempfile.mkdtemp())
    water = place / "water.pdb"
    water.write_text(
        "HETATM    1  O   HOH A   1       0.000   0.000   0.000  1.00  0.00           O\n"
        "HETATM    2  H1  HOH A   1       0.960   0.000   0.000  1.00  0.00           H\n"
        "HETATM    3  H2  HOH A   1      -0.240   0.930   0.000  1.00  0.00           H\n"
    )
    model = place / "model.glb"
    model.write_bytes(b"glTF" + bytes(60))
    box = strobe.box3d(center=(0.5, 0.5, 0.5), size=(0.4, 0.4, 0.4), orientation=(1, 0, 0, 0), color=(1, 0, 0))
    lines = {
        "data": [
            {"type": "scatter", "name": "train", "x": list(range(20)), "y": [1 / (i + 1) for i in range(20)]},
            {"type": "scatter", "mode": "lines+markers", "name": "val", "y": [1.2 / (i + 1) for i in range(20)]},
        ],
        "layout": {"title": {"text": "Two losses"}, "xaxis": {"title": {"text": "epoch"}}},
    }
    bars = {
        "data": [
            {"type": "bar", "name": "ours", "x": ["cat", "dog", "bird"], "y": [3, 5, 2]},
            {"type": "bar", "name": "theirs", "x": ["cat", "dog", "bird"], "y": [2, 4, -1]},
        ],
        "layout": {},
    }
    with strobe.init(project=PROJECT, id="drawn", name="drawn media") as run:
        run.log(
            {
                "video": strobe.Video(str(_gif(place)), caption="a square that moves"),
                "plot/lines": strobe.Plotly(lines),
                "plot/bars": strobe.Plotly(bars),
                "plot/pie": strobe.Plotly({"data": [{"type": "pie", "values": [1, 2]}]}),
                "molecule": strobe.Molecule(str(water), caption="water"),
                "scene": strobe.Object3D.from_point_cloud(_cloud(3), [box]),
                "model": strobe.Object3D(str(model)),
            }
        )


def _gif(place: Path) -> Path:
    from PIL import Image

    frames = [Image.new("RGB", (96, 64), "white") for _ in range(12)]
    for number, frame in enumerate(frames):
        frame.paste((50, 130, 210), (number * 7, 20, number * 7 + 20, 40))
    path = place / "moves.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=80, loop=0)
    return path


def live() -> None:
    """A run that goes on for a minute, or until it is interrupted."""
    with strobe.init(project=PROJECT, id="live", name="live one") as run:
        for step in range(600):
            run.log({"loss": math.exp(-step / 50)})
            print(f"tick {step}", flush=True)
            time.sleep(0.1)


SETS = {
    "full": full,
    "failed": failed,
    "empty": empty,
    "loud": loud,
    "wide": wide,
    "sampled": sampled,
    "nodes": nodes,
    "drawn": drawn,
    "live": live,
}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        SETS[name]()
