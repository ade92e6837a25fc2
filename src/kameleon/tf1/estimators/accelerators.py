"""`tf.contrib.tpu`: estimators of programs that were written for TPUs, on the engine's device."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..train.hooks import SessionRunArgs, SessionRunHook
from .estimator import Estimator
from .settings import ModeKeys, RunConfig
from .specs import EstimatorSpec

LOGGER = logging.getLogger("tensorflow")


class InputPipelineConfig:
    """How data were dealt to the hosts of TPUs."""

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5


class TPUConfig(NamedTuple):
    """How a program runs on TPUs: accepted, as the engine places its work."""

    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


class TPURunConfig(RunConfig):
    """The settings of a run, with those of TPUs.

    Args:
        tpu_config: a `TPUConfig`.
        evaluation_master, master, cluster: accepted: one process trains here.
        kwargs: the arguments of `tf.estimator.RunConfig`.
    """

    def __init__(
        self, tpu_config: TPUConfig | None = None, evaluation_master: Any = None,
        master: Any = None, cluster: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.tpu_config = tpu_config or TPUConfig()
        self.cluster = cluster


class _HostCall(SessionRunHook):
    """Runs in each step what a program wanted done on the host."""

    def __init__(self, tensors: Any):
        self._tensors = tensors

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._tensors)


class TPUEstimatorSpec(NamedTuple):
    """What a model's function built for a `TPUEstimator`.

    Args:
        mode, predictions, loss, train_op, export_outputs, training_hooks, evaluation_hooks,
            prediction_hooks: as of `tf.estimator.EstimatorSpec`.
        eval_metrics: a function that gives metrics, and the tensors that it's called with, a list
            or a dict.
        scaffold_fn: gives the `tf.train.Scaffold`.
        host_call: a function, and the tensors that it's called with in each step.
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Callable[[], Any] | None = None
    host_call: Any = None
    training_hooks: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None

    def as_estimator_spec(self) -> EstimatorSpec:
        """The same for `tf.estimator.Estimator`."""
        hosts = [] if self.host_call is None else [_HostCall(_called(self.host_call))]
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=None if self.eval_metrics is None else _called(self.eval_metrics),
            export_outputs=self.export_outputs,
            training_hooks=[*(self.training_hooks or ()), *hosts],
            scaffold=None if self.scaffold_fn is None else self.scaffold_fn(),
            evaluation_hooks=[*(self.evaluation_hooks or ()), *hosts],
            prediction_hooks=[*(self.prediction_hooks or ()), *hosts],
        )


def _called(pair: Any) -> Any:
    function, tensors = pair
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


class TPUEstimator(Estimator):
    """An estimator of a program for TPUs; it runs on the engine's device.

    Args:
        model_fn, model_dir, config, params, warm_start_from: as of `tf.estimator.Estimator`;
            functions get `params["batch_size"]`, too.
        use_tpu: with True, a warning says that there's no TPU.
        train_batch_size, eval_batch_size, predict_batch_size: what `params["batch_size"]` is.
        batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu: accepted.

    Raises:
        ValueError: `params` has a `batch_size`; otherwise as `tf.estimator.Estimator`.
    """

    def __init__(
        self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None,
        use_tpu: bool = True, train_batch_size: int | None = None,
        eval_batch_size: int | None = None, predict_batch_size: int | None = None,
        batch_axis: Any = None, eval_on_tpu: bool = True, export_to_tpu: bool = True,
        export_to_cpu: bool = True, warm_start_from: Any = None,
        embedding_config_spec: Any = None, export_saved_model_api_version: Any = None,
    ):  # fmt: skip
        if not isinstance(config, TPURunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and "batch_size" in params:
            raise ValueError("batch_size are reserved keys by TPUEstimator: it sets this one")
        if use_tpu:
            LOGGER.warning("TPUEstimator: there's no TPU; the engine's device does the work")
        self._batches = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        super().__init__(model_fn, model_dir, config, None, warm_start_from)
        self._params = copy.deepcopy(params or {})

    def _params_of(self, mode: str) -> Any:
        found = self.params
        for name, value in {"batch_size": self._batches[mode], "use_tpu": False}.items():
            if value is None:
                continue
            if hasattr(found, "add_hparam"):
                found.add_hparam(name, value)
            else:
                found[name] = value
        return found

    def _checked(self, spec: Any) -> EstimatorSpec:
        return super()._checked(
            spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec
        )


class CrossShardOptimizer:
    """An optimizer that averaged gradients over TPUs: the optimizer itself, here.

    Args:
        opt: the optimizer.
        reduction, name, group_assignment: accepted.
    """

    def __init__(self, opt: Any, reduction: Any = None, name: str = "CrossShardOptimizer",
                 group_assignment: Any = None):  # fmt: skip
        self._opt = opt

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_opt":
            raise AttributeError(name)
        return getattr(self._opt, name)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "contrib.tpu.InputPipelineConfig": InputPipelineConfig,
    "contrib.tpu.TPUConfig": TPUConfig,
    "contrib.tpu.RunConfig": TPURunConfig,
    "contrib.tpu.TPUEstimatorSpec": TPUEstimatorSpec,
    "contrib.tpu.TPUEstimator": TPUEstimator,
    "contrib.tpu.CrossShardOptimizer": CrossShardOptimizer,
    "estimator.tpu.InputPipelineConfig": InputPipelineConfig,
    "estimator.tpu.TPUConfig": TPUConfig,
    "estimator.tpu.RunConfig": TPURunConfig,
    "estimator.tpu.TPUEstimatorSpec": TPUEstimatorSpec,
    "estimator.tpu.TPUEstimator": TPUEstimator,
    "tpu.CrossShardOptimizer": CrossShardOptimizer,
}
