"""Checkpoints: `tf.train.Saver`, what finds the newest one, and what reads one.

A checkpoint `PREFIX` is one file `PREFIX.index` in safetensors format, beside a small
`PREFIX.meta` that programs look for. Each is written atomically. TensorFlow's own checkpoints are
read through TensorFlow, where it's installed.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ... import files
from ...backend import surface as K
from ...errors import ArgumentError, FileFormatError
from ...runtime.container import CHECKSUM, packed, unpacked
from ..failures import ERRORS, NotFoundError
from ..graph import GraphKeys, get_collection
from ..refusals import REFUSING
from ..variables import global_variables
from .slots import plain_name

INDEX, META, TEXT = ".index", ".meta", "tensorflow"
STATE = "checkpoint"  # the file that names a folder's checkpoints


def named_variables(var_list: Any) -> dict[str, Any]:
    """By the name under which each is stored, the variables that a program gives."""
    if isinstance(var_list, Mapping):
        return {str(name): variable for name, variable in var_list.items()}
    variables = list(global_variables() if var_list is None else var_list)
    found = {plain_name(v): v for v in variables}
    if len(found) < len(set(variables)):
        raise ArgumentError("At least two variables have the same name")
    return found


class Saver:
    """Writes variables to checkpoints, and reads them back.

    Args:
        var_list: variables, or a dict of them by the name in the file; all, by default.
        reshape: whether a stored array may have another shape with as many elements.
        max_to_keep: how many checkpoints stay; None or 0 keeps all.
        keep_checkpoint_every_n_hours: after so many hours one more stays for good.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        self._var_list, self._reshape, self._pad = var_list, reshape, pad_step_number
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._relative = save_relative_paths
        self._next_kept = time.time() + keep_checkpoint_every_n_hours * 3600
        self._last: list[tuple[str, float]] = []
        if not defer_build:
            self._variables = named_variables(var_list)
            if not self._variables and not allow_empty:
                raise ArgumentError("No variables to save")

    def build(self) -> None:
        """Take the variables that there are now."""
        self._variables = named_variables(self._var_list)

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str:
        """Write a checkpoint.

        Args:
            sess: has no effect: a variable has one value.
            save_path: the prefix of the files' names.
            global_step: a number, or a variable with one, that's added to it.
            latest_filename: the name of the folder's file that names its checkpoints.

        Returns:
            The prefix, with the step.
        """
        prefix = str(save_path)
        if global_step is not None:
            step = int(K.get_value(global_step)) if K.is_tensor(global_step) else int(global_step)
            prefix = f"{prefix}-{step:08d}" if self._pad else f"{prefix}-{step}"
        folder = os.path.dirname(prefix)
        if folder:
            os.makedirs(folder, exist_ok=True)
        write(prefix, self._variables, write_meta_graph)
        self._kept(prefix)
        if write_state:
            paths = self.last_checkpoints
            update_checkpoint_state(folder or ".", prefix, paths, latest_filename)
        return prefix

    def _kept(self, prefix: str) -> None:
        """Count the checkpoint as the newest, and remove what's too old."""
        self._last = [(p, at) for p, at in self._last if p != prefix] + [(prefix, time.time())]
        while self._max_to_keep and len(self._last) > self._max_to_keep:
            old, made = self._last.pop(0)
            if made > self._next_kept:
                self._next_kept += self._hours * 3600
            else:
                remove_checkpoint(old)

    def restore(self, sess: Any, save_path: str | None) -> None:
        """Set the variables to the values of a checkpoint, all at one moment.

        Raises:
            ArgumentError: (a ValueError) the path is None, or names no checkpoint.
            NotFoundError, InvalidArgumentError: the checkpoint lacks a variable, or has it in
                another shape; no variable has changed then.
        """
        if save_path is None:
            raise ArgumentError("Can't load save_path when it is None.")
        if not checkpoint_exists(save_path):
            raise ArgumentError(f"The passed save_path is not a valid checkpoint: {save_path}")
        assign_from(load_checkpoint(save_path), self._variables, self._reshape)

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that this object has written and kept, the oldest first."""
        return [prefix for prefix, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Iterable[str]) -> None:
        """Take these for its own."""
        self._last = [(prefix, time.time()) for prefix in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths: Iterable[str]) -> None:
        """Take these for its own, with the times of their files."""
        found = [p for p in checkpoint_paths if checkpoint_exists(p)]
        self._last = list(zip(found, get_checkpoint_mtimes(found), strict=True))

    def export_meta_graph(self, *args: Any, **options: Any) -> Any:
        """An error that says what to use."""
        return REFUSING["train.export_meta_graph"]()

    def to_proto(self, export_scope: Any = None) -> Any:
        """An error that says what to use."""
        return REFUSING["train.export_meta_graph"]()


def write(prefix: str, variables: Mapping[str, Any], meta: bool = True) -> None:
    """Write variables under their names."""
    values = K.batch_get_value(list(variables.values()))
    arrays = {name: np.asarray(value) for name, value in zip(variables, values, strict=True)}
    files.replace(prefix + INDEX, packed(arrays, {TEXT: "checkpoint"}))
    if meta:
        names = "\n".join(["No graph is stored here; the program builds it.", *arrays])
        files.replace(prefix + META, names.encode())


def assign_from(reader: Any, variables: Mapping[str, Any], reshape: bool = False) -> None:
    """Set variables to what a reader has under their names."""
    pairs = []
    for name, variable in variables.items():
        if not reader.has_tensor(name):
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        value, shape = reader.get_tensor(name), K.int_shape(variable)
        if value.shape != shape and not (reshape and value.size == np.prod(shape)):
            raise ERRORS["InvalidArgumentError"](
                None,
                None,
                f"Assign requires shapes of both tensors to match: variable {name} has shape"
                f" {shape}, the checkpoint {value.shape}",
            )
        pairs.append((variable, value.reshape(shape)))
    K.batch_set_value(pairs)


# Reading ------------------------------------------------------------------------------------------


class CheckpointReader:
    """The arrays of a checkpoint, by name."""

    def __init__(self, arrays: Mapping[str, Any]):
        self._arrays = arrays

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there's an array of that name."""
        return tensor_str in self._arrays

    def get_tensor(self, tensor_str: str) -> Any:
        """The array of that name."""
        if tensor_str not in self._arrays:
            raise NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        return np.array(self._arrays[tensor_str])

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by name."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The dtypes by name."""
        from ...ir.types import as_dtype

        return {name: as_dtype(array.dtype) for name, array in self._arrays.items()}

    def debug_string(self) -> bytes:
        """Names, dtypes and shapes."""
        lines = (f"{n} ({a.dtype}) {list(a.shape)}" for n, a in self._arrays.items())
        return "\n".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: str) -> Any:
    """A reader of a checkpoint, or of the newest one in a folder."""
    prefix = str(ckpt_dir_or_file)
    if os.path.isdir(prefix):
        found = latest_checkpoint(prefix)
        if found is None:
            raise ArgumentError(f"Couldn't find 'checkpoint' file or checkpoints in {prefix}")
        prefix = found
    if not checkpoint_exists(prefix):
        raise NotFoundError(None, None, f"Unsuccessful TensorSliceReader constructor: {prefix}")
    try:
        with open(prefix + INDEX, "rb") as file:
            arrays, texts = unpacked(file.read())
        if texts.get(TEXT) != "checkpoint" or CHECKSUM not in texts:
            raise FileFormatError(f"{prefix}{INDEX} is no checkpoint")
    except (FileFormatError, FileNotFoundError) as error:
        return _foreign(prefix, error)
    return CheckpointReader(arrays)


def _foreign(prefix: str, error: Exception) -> Any:
    """TensorFlow's reader of a checkpoint of its own."""
    if find_spec("tensorflow") is None:
        raise FileFormatError(
            f"{prefix} isn't a checkpoint that Kameleon wrote ({error}); if it's TensorFlow's own,"
            " install TensorFlow, which reads it"
        ) from error
    real: Any = importlib.import_module("tensorflow")
    try:
        reader = real.train.load_checkpoint(prefix)
        names = reader.get_variable_to_shape_map()
        return CheckpointReader({name: np.asarray(reader.get_tensor(name)) for name in names})
    except MemoryError:
        raise
    except Exception as theirs:  # of many classes
        raise FileFormatError(
            f"{prefix} is no checkpoint, or it's damaged; as one of Kameleon's: {error}; as one of"
            f" TensorFlow's: {theirs}"
        ) from theirs


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def NewCheckpointReader(filepattern: str) -> Any:  # noqa: N802 - TensorFlow's name
    return load_checkpoint(filepattern)


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Mapping[str, Any]) -> None:
    """Let variables begin with what a checkpoint has.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder with some.
        assignment_map: by the name in the checkpoint, a variable or its name; a name that ends
            with a slash stands for all of a scope.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    known = {plain_name(v): v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}
    chosen: dict[str, Any] = {}
    for stored, own in assignment_map.items():
        if not isinstance(own, str):
            chosen[stored] = own
        elif own.endswith("/") or own == "":
            start = "" if stored == "/" else stored
            chosen |= {start + n[len(own) :]: v for n, v in known.items() if n.startswith(own)}
        elif own in known:
            chosen[stored] = known[own]
        else:
            raise ArgumentError(f"Assignment map with scope only or unknown variable {own!r}")
    assign_from(reader, chosen)
    for variable in chosen.values():
        vars(variable)["initial"] = K.get_value(variable)
        vars(variable).pop("_initializer", None)


# Which checkpoints there are ----------------------------------------------------------------------


class CheckpointState(NamedTuple):
    """The newest checkpoint of a folder, and all that it keeps."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: Sequence[str]


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: Any = None,
) -> None:
    """Write the file that names a folder's checkpoints."""
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    lines = [f"model_checkpoint_path: {_quoted(model_checkpoint_path, save_dir)}"]
    lines += [f"all_model_checkpoint_paths: {_quoted(path, save_dir)}" for path in paths]
    target = os.path.join(save_dir, latest_filename or STATE)
    files.replace(target, "".join(f"{line}\n" for line in lines).encode())


def _quoted(path: str, folder: str) -> str:
    """A path as the file has it: relative to the folder, unless it's absolute."""
    shown = path if os.path.isabs(path) else os.path.relpath(path, folder)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def get_checkpoint_state(
    checkpoint_dir: str, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file says that names a folder's checkpoints; None where there's none."""
    path = os.path.join(str(checkpoint_dir), latest_filename or STATE)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        found = re.findall(r'^(\w+):\s*("(?:[^"\\]|\\.)*")', file.read(), re.MULTILINE)
    paths: dict[str, list[str]] = {}
    for key, text in found:
        named = ast.literal_eval(text)
        full = named if os.path.isabs(named) else os.path.join(str(checkpoint_dir), named)
        paths.setdefault(key, []).append(full)
    if "model_checkpoint_path" not in paths:
        return None
    return CheckpointState(
        paths["model_checkpoint_path"][-1], paths.get("all_model_checkpoint_paths", [])
    )


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    known = state is not None and checkpoint_exists(state.model_checkpoint_path)
    return state.model_checkpoint_path if state is not None and known else None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there's a checkpoint of that prefix, of either format of TensorFlow or of ours."""
    prefix = str(checkpoint_prefix)
    return os.path.isfile(prefix + INDEX) or os.path.isfile(prefix)


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    return [os.path.getmtime(p + INDEX) for p in checkpoint_prefixes if checkpoint_exists(p)]


def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Remove the files of a checkpoint."""
    folder, name = os.path.split(checkpoint_prefix)
    for found in _listed(folder or "."):
        if found in (name + INDEX, name + META) or fnmatch.fnmatchcase(found, f"{name}.data-*"):
            os.remove(os.path.join(folder, found))


def _listed(folder: str) -> Iterator[str]:
    yield from os.listdir(folder) if os.path.isdir(folder) else ()


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{
        f"train.{x.__name__}": x
        for x in (
            Saver, load_checkpoint, load_variable, list_variables, NewCheckpointReader,
            init_from_checkpoint, get_checkpoint_state, update_checkpoint_state,
            latest_checkpoint, checkpoint_exists, get_checkpoint_mtimes, remove_checkpoint,
        )
    },
    "train.CheckpointState": CheckpointState,
    **{
        f"contrib.framework.{x.__name__}": x
        for x in (load_checkpoint, load_variable, list_variables, init_from_checkpoint)
    },
}  # fmt: skip
