"""What a training of the digits leaves behind: pictures (PNG) and variables (safetensors)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kameleon._utils import files
from kameleon.cli.demo.digits import Data, Epoch, Reader
from kameleon.cli.demo.side_by_side import Trained, reference_of
from kameleon.runtime.container import packed

CURVES, MISTAKES, VARIABLES = "learning.png", "mistakes.png", "variables.safetensors"
COMPARISON = "engines.png"
SHOWN, COLUMNS = 18, 6  # digits in the picture of mistakes


class Files(NamedTuple):
    """The paths of the parts of a report."""

    curves: Path
    mistakes: Path
    variables: Path


def write(folder: Path, reader: Reader, history: Sequence[Epoch]) -> Files:
    """Write the report of a training into `folder`, which is made where it's missing.

    Args:
        folder: where the three files go; older ones are replaced.
        reader: the trained network.
        history: what its epochs gave.

    Returns:
        The paths of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = Files(folder / CURVES, folder / MISTAKES, folder / VARIABLES)
    draw_curves(made.curves, history)
    draw_mistakes(made.mistakes, reader.held_out, reader.predict(reader.held_out.images))
    save(made.variables, reader.values())
    return made


def _figure(width: float, height: float) -> Any:
    """A figure drawn in memory: it opens no window and changes no setting of pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save_picture(figure: Any, path: Path) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    files.replace(path, picture.getvalue())


def draw_curves(path: Path, history: Sequence[Epoch]) -> None:
    """Draw loss and accuracy over the epochs, on training and held-out digits."""
    figure = _figure(10, 4)
    numbers = [epoch.number for epoch in history]
    panels = {
        "loss": ([e.loss for e in history], [e.held_out_loss for e in history]),
        "accuracy": ([e.accuracy for e in history], [e.held_out_accuracy for e in history]),
    }
    for axes, (what, (training, held_out)) in zip(
        figure.subplots(1, 2), panels.items(), strict=True
    ):
        axes.plot(numbers, training, marker=".", label="training, with dropout")
        axes.plot(numbers, held_out, marker=".", label="held out")
        axes.set(xlabel="epoch", ylabel=what, title=what)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        axes.legend()
    _save_picture(figure, path)


# Line widths and dashes with which curves that coincide are all seen: wide lines lie below narrow
# ones, and dashes leave gaps that show the lines below.
WIDEST, NARROWEST = 10.0, 2.0
DASHES = ("-", (0, (6, 2)), (2, (4, 4)), (0, (2, 3)), (1, (1, 3)), (0, (8, 3, 1, 3)))


def write_comparison(folder: Path, runs: Sequence[Trained]) -> Path:
    """Draw the runs of several engines into a picture in `folder`; return its path.

    Args:
        folder: where the picture goes; the folder is made where it's missing.
        runs: of which at least one has ended without an error.
    """
    folder.mkdir(parents=True, exist_ok=True)
    draw_comparison(folder / COMPARISON, runs)
    return folder / COMPARISON


def draw_comparison(path: Path, runs: Sequence[Trained]) -> None:
    """Draw the loss of all engines over the steps, and below the distances to the reference's."""
    reference = reference_of(runs)
    shown = [run for run in runs if run.losses]
    figure = _figure(10, 8)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, run in enumerate(shown):
        width = WIDEST * (NARROWEST / WIDEST) ** (number / max(1, len(shown) - 1))
        style = {"color": f"C{number}", "linestyle": DASHES[number % len(DASHES)]}
        label = run.engine if run.error is None else f"{run.engine} (failed)"
        above.plot(_steps(run), run.losses, lw=width, alpha=0.8, label=label, **style)
        if reference is not None and run is not reference:
            below.plot(*_distances(run, reference), lw=1.5, marker=".", label=label, **style)
    above.set(ylabel="loss", yscale="log", title=f"training on {len(shown)} engines, one graph")
    below.set(xlabel="step", ylabel="relative difference", yscale="log")
    below.set_title(f"loss against that of {reference.engine}" if reference else "")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend()
    _save_picture(figure, path)


def _steps(run: Trained) -> NDArray[np.intp]:
    return np.arange(1, len(run.losses) + 1)


def _distances(run: Trained, reference: Trained) -> tuple[NDArray[Any], NDArray[Any]]:
    """Steps, and how far the losses are apart there; NaN, which isn't drawn, for equal losses."""
    count = min(len(run.losses), len(reference.losses))
    ours, theirs = np.array(run.losses[:count]), np.array(reference.losses[:count])
    apart = np.abs(ours - theirs) / np.abs(theirs)
    return _steps(run)[:count], np.where(apart > 0, apart, np.nan)


def find_mistakes(labels: NDArray[Any], probabilities: NDArray[Any]) -> NDArray[np.intp]:
    """Return the positions of wrong readings, the most confident ones first.

    >>> find_mistakes(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2]]))
    array([2, 1])
    """
    wrong = np.flatnonzero(np.argmax(probabilities, axis=-1) != labels)
    confidence = np.max(probabilities[wrong], axis=-1, initial=0.0)
    return wrong[np.argsort(-confidence, kind="stable")]


def draw_mistakes(path: Path, data: Data, probabilities: NDArray[Any]) -> None:
    """Draw the digits that were read wrong, with what was read; then those that nearly were."""
    wrong = find_mistakes(data.labels, probabilities)
    unsure = np.argsort(probabilities[np.arange(len(data.labels)), data.labels], kind="stable")
    shown = [*wrong, *unsure[~np.isin(unsure, wrong)]][:SHOWN]
    figure = _figure(9, 0.8 + 1.7 * -(-len(shown) // COLUMNS))
    figure.suptitle(
        f"{len(wrong)} of {len(data.labels)} held-out digits read wrong (red);"
        " behind them, those it was least sure of"
    )
    panels = figure.subplots(-(-len(shown) // COLUMNS), COLUMNS, squeeze=False).ravel()
    for axes in panels:
        axes.set_axis_off()
    for axes, index in zip(panels, shown, strict=False):
        label, guess = data.labels[index], int(np.argmax(probabilities[index]))
        axes.imshow(data.images[index, :, :, 0], cmap="gray_r", vmin=0, vmax=1)
        caption = f"{label}" if guess == label else f"{label}, read as {guess}"
        axes.set_title(
            f"{caption} ({probabilities[index, guess]:.0%})",
            fontsize=9,
            color="black" if guess == label else "firebrick",
        )
    _save_picture(figure, path)


def save(path: Path, values: Mapping[str, NDArray[Any]]) -> None:
    """Save arrays by name; `safetensors.numpy.load_file` reads them back."""
    files.replace(path, packed(values, {}))
