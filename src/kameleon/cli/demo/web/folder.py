"""The folder of the page, and how it's made. What is in it:

index.html, style.css, *.js    the page: see `page/`
train.onnx                     the training step
train.onnx.safetensors         what its variables and random streams begin with
digits.bin                     1,797 digits: 64 bytes of each, 0 to 16; then what they show
digits.txt                     whose they are
course.json                    how many of them are for training, and what Python's losses are
ort/                           ONNX Runtime Web
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import kameleon
from kameleon._utils import files
from kameleon.cli.demo.digits import DIGITS, Data
from kameleon.cli.demo.web import onnxruntime_web, training

PAGE = Path(__file__).with_name("page")
FIRST = "index.html"  # what a browser opens


def write(
    folder: Path,
    library: Mapping[str, bytes],
    seed: int,
    passes: int,
    show: training.Show = training.SILENT,
) -> training.Course:
    """Write the page into a folder, and train as it will: its losses are held against Python's.

    Args:
        folder: an empty one; `index.html` comes last.
        library: what `onnxruntime_web.files` gave.
        seed: equal seeds give equal pages.
        passes: for how many of them a click on *Train* lasts.
        show: see `training.course`.
    """
    reader = training.reader_of(seed)
    step = training.step_of(reader)
    training.export(step, reader, folder / "train.onnx")
    found = training.course(step, reader, passes, show)
    settings = {
        "kameleon": kameleon.__version__,
        "library": onnxruntime_web.VERSION,
        "batch": training.BATCH,
        "steps": training.steps_of_a_pass(reader),
        "training": len(reader.train_set.labels),
        "losses": found.losses,
    }
    files.replace(folder / "course.json", json.dumps(settings).encode())
    files.replace(folder / "digits.bin", _packed(reader.train_set, reader.held_out))
    shutil.copy(DIGITS.with_suffix(".txt"), folder)
    (folder / "ort").mkdir()
    for name, content in library.items():
        files.replace(folder / "ort" / name, content)
    for path in sorted(PAGE.iterdir(), key=lambda path: path.name == FIRST):
        shutil.copyfile(path, folder / path.name)
    return found


def _packed(*parts: Data) -> bytes:
    """Digits as bytes: all images, then all labels."""
    images = np.concatenate([np.rint(16 * part.images) for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    return images.astype("uint8").tobytes() + labels.astype("uint8").tobytes()
