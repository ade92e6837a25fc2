"""What an estimator is told: modes, settings of a run, and what is trained and evaluated by."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

UNSET = object()  # how often checkpoints are written, where the program doesn't say
EVERY = 600  # seconds, then


class ModeKeys:
    """What a model's function builds its graph for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class RunConfig:
    """How an estimator runs.

    Args:
        model_dir: the folder of checkpoints and summaries.
        tf_random_seed: the seed of a graph's random numbers.
        save_summary_steps: every so many steps summaries are written; None: never.
        save_checkpoints_steps, save_checkpoints_secs: how often there's a checkpoint; every 600
            seconds, if neither is given; never, if both are None.
        session_config, device_fn, protocol, train_distribute, eval_distribute: accepted; the
            engine places its work.
        keep_checkpoint_max: how many checkpoints stay; 0 or None keeps all.
        keep_checkpoint_every_n_hours: after so many hours one more stays for good.
        log_step_count_steps: every so many steps the loss and the speed are logged; None: never.

    Raises:
        ValueError: both steps and seconds are given for checkpoints; or a number isn't positive.

    >>> RunConfig(save_checkpoints_steps=10).replace(model_dir="runs").model_dir
    'runs'
    """

    is_chief, task_type, task_id, global_id_in_cluster = True, "worker", 0, 0
    num_ps_replicas, num_worker_replicas = 0, 1
    master = evaluation_master = ""
    service: Any = None

    def __init__(
        self, model_dir: Any = None, tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100, save_checkpoints_steps: Any = UNSET,
        save_checkpoints_secs: Any = UNSET, session_config: Any = None,
        keep_checkpoint_max: int | None = 5, keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100, train_distribute: Any = None,
        device_fn: Any = None, protocol: Any = None, eval_distribute: Any = None,
        experimental_distribute: Any = None, experimental_max_worker_delay_secs: Any = None,
        session_creation_timeout_secs: int = 7200,
    ):  # fmt: skip
        steps, seconds = save_checkpoints_steps, save_checkpoints_secs
        if seconds is UNSET:
            seconds = EVERY if steps is UNSET else None
        steps = None if steps is UNSET else steps
        self._set(
            model_dir=model_dir, tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps, save_checkpoints_steps=steps,
            save_checkpoints_secs=seconds, session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps, train_distribute=train_distribute,
            device_fn=device_fn, protocol=protocol, eval_distribute=eval_distribute,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )  # fmt: skip

    def _set(self, **values: Any) -> None:
        if "model_dir" in values and values["model_dir"] == "":
            raise ValueError("model_dir should be non-empty")
        self.__dict__.update(values)
        if self.save_checkpoints_steps is not None and self.save_checkpoints_secs is not None:
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
            )
        for name in ("save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
                     "save_summary_steps"):  # fmt: skip
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} should be >= 0")
        for name in ("keep_checkpoint_every_n_hours", "log_step_count_steps"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} should be > 0")

    model_dir: str | None
    tf_random_seed: int | None
    save_summary_steps: int | None
    save_checkpoints_steps: int | None
    save_checkpoints_secs: int | None
    session_config: Any
    keep_checkpoint_max: int | None
    keep_checkpoint_every_n_hours: float
    log_step_count_steps: int | None

    @property
    def cluster_spec(self) -> Any:
        """The processes of a cluster: none but this one."""
        return None

    def replace(self, **kwargs: Any) -> RunConfig:
        """The same settings but for those that are given.

        Raises:
            ValueError: there's no such setting, or it can't be replaced.
        """
        found = copy.copy(self)
        unknown = [name for name in kwargs if name not in vars(self)]
        if unknown:
            known = ", ".join(sorted(vars(self)))
            raise ValueError(f"Replacing {unknown[0]} is not supported; there are {known}")
        # What is given takes the place of what was said of checkpoints before.
        pair = ("save_checkpoints_steps", "save_checkpoints_secs")
        if any(kwargs.get(name) is not None for name in pair):
            found.__dict__.update(dict.fromkeys(pair))
        found._set(**kwargs)
        return found


class WarmStartSettings(NamedTuple):
    """From which checkpoint a model's variables begin.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder with some.
        vars_to_warm_start: a regular expression of names, or a list of names or variables.
        var_name_to_vocab_info: not there; None.
        var_name_to_prev_var_name: by a variable's name, its name in the checkpoint.
    """

    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Any = None
    var_name_to_prev_var_name: dict[str, str] | None = None


class _Train(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]


class TrainSpec(_Train):
    """How `train_and_evaluate` trains: the data, until which step, with which hooks."""

    __slots__ = ()

    def __new__(
        cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Any = None
    ) -> TrainSpec:
        positive("max_steps", max_steps)
        return super().__new__(cls, input_fn, max_steps, tuple(hooks or ()))


class _Eval(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Eval):
    """How `train_and_evaluate` evaluates: the data, how many batches, with which hooks."""

    __slots__ = ()

    def __new__(
        cls, input_fn: Callable[..., Any], steps: int | None = 100, name: str | None = None,
        hooks: Any = None, exporters: Any = None, start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:  # fmt: skip
        positive("steps", steps)
        given: Sequence[Any] = exporters if isinstance(exporters, (list, tuple)) else [exporters]
        return super().__new__(
            cls, input_fn, steps, name, tuple(hooks or ()),
            tuple(x for x in given if x is not None), start_delay_secs, throttle_secs,
        )  # fmt: skip


def positive(name: str, value: int | None) -> None:
    """Refuse a number of steps that isn't positive.

    Raises:
        ValueError: it's 0 or less.
    """
    if value is not None and value <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {value}")


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"estimator.{kind.__name__}": kind
    for kind in (ModeKeys, RunConfig, WarmStartSettings, TrainSpec, EvalSpec)
}
