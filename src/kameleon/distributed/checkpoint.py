"""Checkpoints: state kept on the way, so that a program that was ended goes on where it was.

Orbax writes them: in the background, each process the parts that it holds, and published only when
they're whole. What is restored lies as it then has to, on however many devices.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils import checksums, files, random_state
from .._utils.tracebacks import boundary
from ..engines._base import Engine
from ..errors import (
    ArgumentError,
    FileFormatError,
    MissingLibraryError,
    TargetError,
    UncheckedFileWarning,
    warn,
)
from ..graph.ir.node import Node, Variable
from ..runtime.function import Function
from ..runtime.state import draws, records, set_cells
from . import overlay

__all__ = ["Checkpoints", "Resume"]

ARRAYS, ABOUT = "arrays", "about"
FORMAT = 2  # a checkpoint that tells of no format is an early one, without checksums
_STEP = re.compile("0|[1-9][0-9]*", re.ASCII)  # what a folder is called that holds a checkpoint
KEEP = 3
# What Keras has: where its models keep variables, and what computes with them.
HOLDING = ("weights", "optimizer", "train_function", "test_function", "predict_function", "metrics")


class Kept(NamedTuple):
    """What a checkpoint holds, read and found to be as it was saved."""

    step: int
    about: dict[str, Any]
    values: list[np.ndarray[Any, Any]]


class Checkpoints:
    """The last checkpoints of a program, in a folder.

    A checkpoint has the values of variables, how far random streams are drawn, and the states of
    NumPy's and Python's global generators; so a program that goes on from one computes the same
    bits as one that was never ended, where it's made again with the same seeds. It's written in the
    background and published as a whole: one that was being written when the program ended doesn't
    count. All its files have checksums (`SHA256SUMS`): one that was damaged is never taken.

    In a program of several processes, all of them make the same calls.

    Args:
        folder: where checkpoints lie; it's made where it isn't there. Other machines see the same.
        of: variables, functions (whose variables and random streams count), Keras models and
            optimizers, or lists of such.
        keep: how many of the last checkpoints are kept.

    Attributes:
        variables: those that count, each once.

    Raises:
        ArgumentError: `of` has no variables, `keep` isn't 1 or more, or the folder is no path.
        TargetError: it's the path of something other than a folder.
        MissingLibraryError: Orbax isn't installed.

    >>> import tempfile
    >>> from kameleon import backend as K
    >>> from kameleon.distributed.checkpoint import Checkpoints
    >>> v = K.variable([0., 0.])
    >>> step = K.function([], [], updates=[(v, v + 1)])
    >>> folder = tempfile.mkdtemp()
    >>> with Checkpoints(folder, step) as kept:
    ...     for i in range(kept.restore(), 3):
    ...         _ = step([])
    ...         kept.save(i + 1)
    >>> K.set_value(v, [9., 9.])
    >>> Checkpoints(folder, step).restore()
    3
    >>> K.get_value(v).tolist()
    [3.0, 3.0]
    """

    @boundary
    def __init__(self, folder: str | os.PathLike[str], *of: Any, keep: int = KEEP):
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
            raise ArgumentError(f"Checkpoints: keep is a number of 1 or more, not {keep!r}")
        self._of = of
        found = list(_leaves(of))
        self.variables = list(dict.fromkeys(x for x in found if isinstance(x, Variable)))
        if of and not self.variables:
            raise ArgumentError("Checkpoints: give variables, functions or Keras models to keep")
        self._streams = list(dict.fromkeys(x for x in found if not isinstance(x, Variable)))
        self._folder = os.path.abspath(files.path_of("Checkpoints", folder))
        if os.path.exists(self._folder) and not os.path.isdir(self._folder):
            raise TargetError(f"Checkpoints: {self._folder} isn't a folder: name one, or a new one")
        overlay.share(self._folder)
        self._orbax = _orbax()
        options = self._orbax.CheckpointManagerOptions(
            max_to_keep=keep,
            create=True,
            lightweight_initialize=True,  # reads nothing, since that may be damaged
            async_options=self._orbax.AsyncOptions(post_finalization_callback=self._add_checksums),
        )
        self._manager = self._orbax.CheckpointManager(self._folder, options=options)

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    @property
    def steps(self) -> list[int]:
        """The steps whose checkpoints are there, in order."""
        self._manager.wait_until_finished()
        found = [each for each in os.scandir(self._folder) if each.is_dir()]
        return sorted(int(each.name) for each in found if _STEP.fullmatch(each.name))

    @boundary
    def save(self, step: int, notes: Any = None) -> None:
        """Keep the state as it's now. The call returns when it's copied; it's written afterwards.

        Args:
            step: how far the program is: what `restore` will give. One that is there is replaced.
            notes: what else to keep, as JSON has it: what `notes` will give.

        Raises:
            ArgumentError: the step isn't a number of 0 or more.
            OSError: an earlier checkpoint couldn't be written.
        """
        if isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0:
            raise ArgumentError(f"save: a step is a number of 0 or more, not {step!r}")
        cells = [v.cell for v in self.variables]
        held = records([*cells, *map(draws, self._streams)])
        values = [_copied(value, home) for value, home, _ in held[: len(cells)]]
        counts = [count for count, _, _ in held[len(cells) :]]
        about = {
            "format": FORMAT,
            "variables": [_described(v) for v in self.variables],
            "shapes": [np.shape(value) for value in values],
            "streams": [
                [s.attrs["seed"], count] for s, count in zip(self._streams, counts, strict=True)
            ],
            "generators": random_state.generators(),
            "notes": _as_json(notes),
        }
        args = self._orbax.args
        # Orbax stores no arrays without elements; there's nothing in them to store.
        arrays = {str(i): value for i, value in enumerate(values) if 0 not in np.shape(value)}
        self._manager.wait_until_finished()
        if step in self._manager.all_steps():
            self._manager.delete(step)
        self._writing = f"{int(step)}."
        self._manager.save(
            int(step),
            args=args.Composite(
                **{ARRAYS: args.PyTreeSave(arrays or {"": np.zeros(1)})},
                **{ABOUT: args.JsonSave(about)},
            ),
            force=True,  # also where later steps are there, from which the program didn't go on
        )

    def _add_checksums(self) -> None:
        """Write the checksums of a checkpoint that is whole, and not published yet."""
        found = [each for each in os.scandir(self._folder) if each.name.startswith(self._writing)]
        drafts = [each.path for each in found if each.is_dir()]
        newest = max(drafts, key=os.path.getmtime)  # others were left by programs that were ended
        checksums.write(newest, ARRAYS, ABOUT)

    @boundary
    def notes(self, step: int | None = None) -> Any:
        """What was noted beside a checkpoint; None where nothing was, or there's no checkpoint.

        Args:
            step: which one; the one that `restore` takes, if it's None.

        Raises:
            ArgumentError, FileFormatError: see `restore`.
        """
        kept = self._kept(step)
        return None if kept is None else kept.about["notes"]

    @boundary
    def restore(self, step: int | None = None, *, generators: bool = True) -> int:
        """Take the state of a checkpoint, all at once.

        Args:
            step: which one. If it's None, the last; where that is damaged, the last one that
                isn't, with a warning.
            generators: whether NumPy's and Python's generators go on from there, too.

        Returns:
            Its step; 0 where there's no checkpoint yet, and then nothing changes.

        Raises:
            ArgumentError: there's no checkpoint of that step.
            FileFormatError: the checkpoint is damaged (if the step is None: all of them are); or
                it's another program's: it has other variables. Nothing has changed then.
        """
        kept = self._kept(step)
        if kept is None:
            return 0
        self._compare(kept)
        counts = [count for _, count in kept.about["streams"]]
        values = zip((v.cell for v in self.variables), kept.values, strict=True)
        set_cells([*values, *zip(map(draws, self._streams), counts, strict=True)])
        if generators:
            random_state.set_generators(kept.about["generators"])
        return kept.step

    def _kept(self, step: int | None) -> Kept | None:
        """The checkpoint of a step, or the newest that isn't damaged; None where there's none."""
        steps = self.steps
        if step is not None and step not in steps:
            raise ArgumentError(f"there's no checkpoint of step {step}, but {steps}")
        damaged: list[str] = []
        for chosen in reversed(steps) if step is None else [step]:
            try:
                kept = self._read(chosen)
            except FileFormatError as error:
                damaged.append(str(error))
                continue
            if damaged:
                warn(
                    f"{'; '.join(damaged)}; the checkpoint of step {chosen} is taken, the last one"
                    " that is sound",
                    RuntimeWarning,
                )
            return kept
        if damaged:
            raise FileFormatError("; ".join(damaged))
        return None

    def _read(self, step: int) -> Kept:
        """All of a checkpoint.

        Raises:
            FileFormatError: it's damaged.
        """
        folder = os.path.join(self._folder, str(step))
        has_checksums = os.path.exists(os.path.join(folder, checksums.NAME))
        try:
            if has_checksums:
                checksums.check(folder)
            about = self._item(folder, ABOUT, self._orbax.args.JsonRestore())
            if "format" in about and not has_checksums:
                raise FileFormatError(f"{checksums.NAME} is missing")
            values = self._values(folder, about)
        except MemoryError:
            raise
        except Exception as error:  # libraries say of damage what they say of it
            said = str(error) if isinstance(error, FileFormatError) else _first_line(error)
            raise FileFormatError(f"the checkpoint {folder} is damaged: {said}") from error
        if not has_checksums:
            warn(
                f"the checkpoint {folder} has no checksums: nothing tells whether it was changed;"
                " those that are saved from now on have them",
                UncheckedFileWarning,
            )
        return Kept(step, about, values)

    def _values(self, folder: str, about: Mapping[str, Any]) -> list[np.ndarray[Any, Any]]:
        """The values of a checkpoint's variables."""
        shapes, as_numpy = about["shapes"], self._orbax.RestoreArgs(restore_type=np.ndarray)
        stored = {str(i): as_numpy for i, shape in enumerate(shapes) if 0 not in shape}
        asked = self._orbax.args.PyTreeRestore(restore_args=stored or {"": as_numpy})
        arrays = self._item(folder, ARRAYS, asked)
        return [
            np.array(np.zeros(shape) if 0 in shape else arrays[str(i)], np.dtype(dtype))
            for i, (shape, (_, _, dtype)) in enumerate(zip(shapes, about["variables"], strict=True))
        ]

    def _item(self, folder: str, name: str, asked: Any) -> Any:
        """A part of a checkpoint."""
        handlers = {ARRAYS: "PyTreeCheckpointHandler", ABOUT: "JsonCheckpointHandler"}
        reader = self._orbax.Checkpointer(getattr(self._orbax, handlers[name])())
        return reader.restore(os.path.join(folder, name), args=asked)

    def _compare(self, kept: Kept) -> None:
        """See that a checkpoint is of these variables and streams."""
        there, here = kept.about["variables"], [_described(v) for v in self.variables]
        if there != here:
            differing = next(
                (
                    f"{_signature(a)} there, {_signature(b)} here"
                    for a, b in zip(there, here, strict=False)
                    if a != b
                ),
                f"{len(there)} variables there, {len(here)} here",
            )
            raise FileFormatError(
                f"the checkpoint of step {kept.step} is of another program: {differing}"
            )
        seeds = [seed for seed, _ in kept.about["streams"]]
        if len(seeds) != len(self._streams):
            raise FileFormatError(
                f"the checkpoint of step {kept.step} is of another program: {len(seeds)} random"
                f" streams there, {len(self._streams)} here"
            )
        if seeds != [s.attrs["seed"] for s in self._streams]:
            warn(
                f"random streams have other seeds than in the checkpoint of step {kept.step}, and"
                " will give other numbers: call numpy.random.seed before they're made",
                RuntimeWarning,
            )

    def wait(self) -> None:
        """Wait until all checkpoints are written.

        Raises:
            OSError: one couldn't be.
        """
        self._manager.wait_until_finished()

    def close(self) -> None:
        """Wait until all checkpoints are written; afterwards none can be saved."""
        self._manager.close()


class Resume:
    """A callback of Keras that keeps a checkpoint of each epoch, and goes on from the last one.

    A program that is started again needs no other line than this callback in `fit`:

        model.fit(x, y, epochs=20, callbacks=[kameleon.checkpoint.Resume("runs/1")])

    Epochs that are done are gone through without computing: data come as they came, from arrays,
    sequences or generators; losses and metrics, for other callbacks and the history, are those that
    were kept. Then the state is restored. Where the program draws the same numbers again
    (`numpy.random.seed`), weights end with the same bits as without an end in between.

    Args:
        folder, keep: see `Checkpoints`; each `fit` has a folder of its own.
    """

    def __init__(self, folder: str | os.PathLike[str], keep: int = KEEP):
        self._folder, self._keep = folder, keep
        self.model: Any = None
        self._logs: list[dict[str, float]] = []  # of each epoch
        self._done = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def set_params(self, params: Any) -> None:
        """What Keras tells of the training."""

    def set_model(self, model: Any) -> None:
        """The model to keep."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """See which epochs are done."""
        self._checkpoints = Checkpoints(self._folder, self.model, keep=self._keep)
        kept = self._checkpoints._kept(None)
        self._done, self._logs = (kept.step, kept.about["notes"]) if kept else (0, [])

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Let calls of an epoch that is done give what was kept."""
        if epoch < self._done:
            kept = self._logs[epoch]
            for function, prefix in self._functions():
                values = [kept.get(f"{prefix}{name}", 0.0) for name in self.model.metrics_names]
                function.stand_in([np.float32(value) for value in values])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keep the state, or take what was kept."""
        if epoch >= self._done:
            self._logs.append({name: float(value) for name, value in (logs or {}).items()})
            self._checkpoints.save(epoch + 1, self._logs)
        elif epoch + 1 == self._done:
            self._end_replay()
            # Generators have gone the same way once more.
            self._checkpoints.restore(self._done, generators=False)

    def on_train_end(self, logs: Any = None) -> None:
        """Wait until all is written."""
        self._end_replay()
        self._checkpoints.close()

    def _functions(self) -> list[tuple[Any, str]]:
        """What trains and what evaluates, with the prefix of its names in logs."""
        found = (
            (self.model.train_function, ""),
            (getattr(self.model, "test_function", None), "val_"),
        )
        return [(function, prefix) for function, prefix in found if function is not None]

    def _end_replay(self) -> None:
        for function, _ in self._functions():
            function.stand_in(None)


def _nothing(*args: Any, **options: Any) -> None:
    """What a callback does where it does nothing."""


def _leaves(given: Any) -> Iterator[Node]:
    """The variables and random streams of what is to be kept."""
    if isinstance(given, Variable):
        yield given
    elif isinstance(getattr(given, "compiled", None), Function):
        yield from _leaves(given.compiled)
    elif isinstance(given, Function):
        yield from given.program.variables
        yield from given.program.sources
    elif isinstance(given, list | tuple):
        for part in given:
            yield from _leaves(part)
    elif any(hasattr(given, name) for name in HOLDING):
        for name in HOLDING:
            yield from _leaves(getattr(given, name, None) or ())
    elif isinstance(given, Iterable) or given is None or callable(given):
        raise ArgumentError(f"Checkpoints: {given!r} has no variables to keep")


def _copied(value: Any, home: Engine) -> Any:
    """A value as Orbax takes it: an array of its own, or in parts on devices."""
    return value if home.has_layout else home.to_numpy(value)


def _described(variable: Variable) -> list[Any]:
    return [str(variable), list(variable.shape), str(variable.dtype)]


def _signature(described: Sequence[Any]) -> str:
    name, shape, dtype = described
    return f"{name} {dtype}{tuple(shape)}"


def _as_json(notes: Any) -> Any:
    """Notes as they will be read."""
    try:
        return json.loads(json.dumps(notes))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"save: notes are what JSON has: {error}") from None


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0].partition(" [")[0]


def _orbax() -> Any:
    try:
        return importlib.import_module("orbax.checkpoint")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("orbax"):
            raise
        raise MissingLibraryError(
            "checkpoints are written by Orbax: pip install orbax-checkpoint jax"
        ) from None
