"""`tf.estimator.Estimator`: trains, evaluates and asks a model that a function builds.

Each call builds a graph of its own, by the program's functions of data and of the model. What the
calls have in common is the folder: a call's variables begin with the newest checkpoint there.
"""

from __future__ import annotations

import copy
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..failures import OutOfRangeError
from ..graph import Graph, GraphKeys
from ..nests import flatten
from ..nets.metrics import mean as mean_metric
from ..summaries import FileWriter, scalar
from ..tensors import set_random_seed
from ..train.averages import get_or_create_global_step
from ..train.checkpoints import Saver, latest_checkpoint, load_checkpoint
from ..train.hooks import (
    CheckpointSaverHook,
    FinalOpsHook,
    LoggingTensorHook,
    NanTensorHook,
    SessionRunHook,
    StopAtStepHook,
)
from ..train.monitored import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
)
from ..train.warm import warm_start
from .inputs import called_with, read, taken_by
from .settings import EvalSpec, ModeKeys, RunConfig, TrainSpec, WarmStartSettings, positive
from .specs import EstimatorSpec

LOGGER = logging.getLogger("tensorflow")


class StopAfterRuns(SessionRunHook):
    """Stops after so many runs."""

    def __init__(self, runs: int):
        self._runs = runs

    def begin(self) -> None:
        self._left = self._runs

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._left -= 1
        if self._left <= 0:
            run_context.request_stop()


class Estimator:
    """A model that a function builds, with its data from functions and its values in a folder.

    Args:
        model_fn: `model_fn(features, labels, mode, params, config)`, of which it takes those that
            it names; it gives a `tf.estimator.EstimatorSpec`.
        model_dir: the folder of checkpoints and summaries; `config.model_dir`, or a temporary one.
        config: a `tf.estimator.RunConfig`.
        params: settings, a dict, which the functions get.
        warm_start_from: a checkpoint, a folder with some, or a `WarmStartSettings`: where
            variables begin that have no checkpoint in `model_dir` yet.

    Raises:
        ValueError: the function doesn't take `features`, or not `params`, which are given; or the
            folders differ.

    >>> from kameleon import backend as K
    >>> tf = K.tf
    >>> def model(features, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    ...     return tf.estimator.EstimatorSpec(mode, predictions={"y": w * features})
    >>> data = tf.estimator.inputs.numpy_input_fn(np.arange(3.0, dtype="float32"), shuffle=False)
    >>> [float(found["y"]) for found in Estimator(model).predict(data)]
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self, model_fn: Callable[..., Any], model_dir: Any = None, config: Any = None,
        params: Any = None, warm_start_from: Any = None,
    ):  # fmt: skip
        takes = taken_by(model_fn)
        if "features" not in takes:
            raise ValueError(f"model_fn ({model_fn}) must include features argument.")
        if params is not None and "params" not in takes:
            raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params"
                             f" ({params}) is passed to Estimator.")  # fmt: skip
        unknown = takes - {"features", "labels", "params", "mode", "config", "self"}
        if unknown:
            raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")
        self._model_fn, self._params = model_fn, copy.deepcopy(params or {})
        self._config = self._configured(config, model_dir)
        self._warm_start = warm_start_from
        if isinstance(warm_start_from, (str, os.PathLike)):
            self._warm_start = WarmStartSettings(str(warm_start_from))

    def _configured(self, config: Any, model_dir: Any) -> RunConfig:
        config = RunConfig() if config is None else config
        if isinstance(config, dict):
            config = RunConfig(**config)
        if not isinstance(config, RunConfig):
            raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
        folder = None if model_dir is None else os.fspath(model_dir)
        if folder is not None and config.model_dir not in (None, folder):
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different"
                f" values. In constructor: '{folder}', in `RunConfig`: '{config.model_dir}' "
            )
        folder = folder or config.model_dir
        if folder is None:
            folder = tempfile.mkdtemp()
            LOGGER.warning("Using temporary folder as model directory: %s", folder)
        return config if config.model_dir == folder else config.replace(model_dir=folder)

    config = property(lambda self: copy.copy(self._config))
    params = property(lambda self: copy.deepcopy(self._params))
    model_dir = property(lambda self: self._config.model_dir)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model's function, as `model_fn(features, labels, mode, config)`."""
        return lambda features, labels, mode, config: self._call_model_fn(
            features, labels, mode, config
        )

    # What is in the folder ----------------------------------------------------------------------

    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint; None where there's none."""
        return latest_checkpoint(self.model_dir)

    def _reader(self) -> Any:
        if self.latest_checkpoint() is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return load_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """The names of the newest checkpoint's variables.

        Raises:
            ValueError: nothing was trained.
        """
        return list(self._reader().get_variable_to_shape_map())

    def get_variable_value(self, name: str) -> Any:
        """A variable's value in the newest checkpoint.

        Raises:
            ValueError: nothing was trained.
        """
        return self._reader().get_tensor(name)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of an evaluation's summaries."""
        return os.path.join(self.model_dir, "eval" if not name else f"eval_{name}")

    # Training -----------------------------------------------------------------------------------

    def train(
        self, input_fn: Callable[..., Any], hooks: Any = None, steps: int | None = None,
        max_steps: int | None = None, saving_listeners: Any = None,
    ) -> Estimator:  # fmt: skip
        """Train the model.

        Args:
            input_fn: gives `(features, labels)`, or a `tf.data.Dataset` of such pairs.
            hooks: called around the session's runs.
            steps: how many steps; until the data end, if None.
            max_steps: the global step at which training ends; nothing is done if it's reached.
            saving_listeners: objects that are told before and after a checkpoint is written.

        Returns:
            The estimator itself.

        Raises:
            ValueError: both `steps` and `max_steps` are given, or one isn't positive.
            tf.train.NanLossDuringTrainingError: the loss isn't a number.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        positive("steps", steps)
        positive("max_steps", max_steps)
        found, newest = list(hooks or ()), self.latest_checkpoint()
        reached = 0 if newest is None else load_checkpoint(newest).get_tensor(GraphKeys.GLOBAL_STEP)
        if max_steps is not None and max_steps <= reached:
            LOGGER.info("Skipping training since max_steps has already saved.")
            return self
        if steps is not None or max_steps is not None:
            found.append(StopAtStepHook(steps, max_steps))
        loss = self._train(input_fn, found, saving_listeners)
        LOGGER.info("Loss for final step: %s.", loss)
        return self

    def _train(self, input_fn: Callable[..., Any], hooks: list[Any], listeners: Any) -> Any:
        config = self._config
        with self._graph() as graph:
            step = get_or_create_global_step()
            spec, from_inputs = self._built(input_fn, ModeKeys.TRAIN)
            if self._warm_start is not None:
                warm_start(*self._warm_start)
            if all(x.name != "loss" for x in graph.get_collection(GraphKeys.SUMMARIES)):
                scalar("loss", spec.loss)
            if not graph.get_collection(GraphKeys.SAVERS):
                kept, hours = config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours
                saver = Saver(max_to_keep=kept, keep_checkpoint_every_n_hours=hours)
                graph.add_to_collection(GraphKeys.SAVERS, saver)
            every = [*from_inputs, *hooks, NanTensorHook(spec.loss)]
            if config.log_step_count_steps is not None:
                shown = {"loss": spec.loss, "step": step}
                every.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
            every += [*spec.training_hooks, *spec.training_chief_hooks]
            scaffold = spec.scaffold or Scaffold()
            saves = config.save_checkpoints_secs, config.save_checkpoints_steps
            if saves != (None, None):
                folder = str(self.model_dir)
                every.append(
                    CheckpointSaverHook(folder, *saves, scaffold=scaffold, listeners=listeners)
                )
            loss = None
            with MonitoredTrainingSession(
                checkpoint_dir=self.model_dir,
                scaffold=scaffold,
                hooks=every,
                save_checkpoint_secs=None,  # the hook above, which has listeners
                save_summaries_steps=config.save_summary_steps,
                log_step_count_steps=config.log_step_count_steps,
            ) as session:
                while not session.should_stop():
                    _, loss = session.run([spec.train_op, spec.loss])
        return loss

    # Evaluation ---------------------------------------------------------------------------------

    def evaluate(
        self, input_fn: Callable[..., Any], steps: int | None = None, hooks: Any = None,
        checkpoint_path: Any = None, name: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Measure the model.

        Args:
            input_fn: gives `(features, labels)`, or a `tf.data.Dataset` of such pairs.
            steps: how many batches; until the data end, if None.
            hooks: called around the session's runs.
            checkpoint_path: where the variables' values are; the newest checkpoint, if None.
            name: of this evaluation, for its summaries' folder.

        Returns:
            By name, the metrics' values, with the mean `loss` of the batches and `global_step`.

        Raises:
            ValueError: `steps` isn't positive; or a metric has the name of one of these two.
        """
        positive("steps", steps)
        found = list(hooks or ())
        if steps is not None:
            found.append(StopAfterRuns(steps))
        with self._graph():
            step = get_or_create_global_step()
            spec, from_inputs = self._built(input_fn, ModeKeys.EVAL)
            metrics = dict(spec.eval_metric_ops)
            for reserved in ("loss", GraphKeys.GLOBAL_STEP):
                if reserved in metrics:
                    raise ValueError(f"Metric with name '{reserved}' is not allowed: it's given.")
            metrics["loss"] = mean_metric(spec.loss)
            values = {key: value for key, (value, _) in metrics.items()}
            final = FinalOpsHook({**values, GraphKeys.GLOBAL_STEP: step})
            every = [*from_inputs, *found, *spec.evaluation_hooks, final]
            with self._session(spec, every, checkpoint_path, "evaluate") as session:
                while not session.should_stop():
                    session.run([update for _, update in metrics.values()])
            results: dict[str, Any] = final.final_ops_values
        self._noted(results, name)
        return results

    def _noted(self, results: Mapping[str, Any], name: str | None) -> None:
        """Log the results, and write them as summaries."""
        step = int(results[GraphKeys.GLOBAL_STEP])
        text = ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))
        LOGGER.info("Saving dict for global step %d: %s", step, text)
        with FileWriter(self.eval_dir(name)) as writer:
            for key, value in sorted(results.items()):
                if key != GraphKeys.GLOBAL_STEP and np.ndim(value) == 0:
                    writer.add_scalar(key, value, step)

    # Prediction ---------------------------------------------------------------------------------

    def predict(
        self, input_fn: Callable[..., Any], predict_keys: Any = None, hooks: Any = None,
        checkpoint_path: Any = None, yield_single_examples: bool = True,
    ) -> Iterator[Any]:  # fmt: skip
        """Ask the model, one example at a time.

        Args:
            input_fn: gives features, alone or with labels, which aren't used.
            predict_keys: the names of those predictions that are wanted; all, if None.
            hooks: called around the session's runs.
            checkpoint_path: where the variables' values are; the newest checkpoint, if None.
            yield_single_examples: whether a batch is taken apart.

        Yields:
            The predictions for an example, as `model_fn` gives them: an array, or a dict of them.

        Raises:
            ValueError: there are no such predictions; or their batches differ in length.
        """
        with self._graph() as graph:
            get_or_create_global_step()
            spec, from_inputs = self._built(input_fn, ModeKeys.PREDICT)
            wanted = _wanted(spec.predictions, predict_keys)
            if not from_inputs:
                LOGGER.warning("input_fn gave tensors, not a tf.data.Dataset: predict never ends")
            every = [*from_inputs, *(hooks or ()), *spec.prediction_hooks]
            session = self._session(spec, every, checkpoint_path, "predict")
        # The blocks are left while the program has a prediction in its hands.
        try:
            while not session.should_stop():
                with graph.as_default():
                    found = _run_or_end(session, wanted)
                if found is None:
                    break
                yield from _examples(found) if yield_single_examples else [found]
        finally:
            session.close()

    # What the three have in common --------------------------------------------------------------

    def _graph(self) -> Any:
        """A block with a graph of its own."""
        graph = Graph()
        with graph.as_default():
            if self._config.tf_random_seed is not None:
                set_random_seed(self._config.tf_random_seed)
        return graph.as_default()

    def _built(self, input_fn: Callable[..., Any], mode: str) -> tuple[EstimatorSpec, list[Any]]:
        """What the program's functions build, and the hooks of its data."""
        offered = {"mode": mode, "params": self._params_of(mode), "config": self.config}
        features, labels, hooks = read(called_with(input_fn, offered))
        if mode == ModeKeys.PREDICT:
            labels = None
        return self._call_model_fn(features, labels, mode, self.config), hooks

    def _params_of(self, mode: str) -> Any:
        """The settings that the program's functions get."""
        return self.params

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        if "labels" not in taken_by(self._model_fn) and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        offered = {
            "features": features, "labels": labels, "mode": mode,
            "params": self._params_of(mode), "config": config,
        }  # fmt: skip
        LOGGER.info("Calling model_fn.")
        return self._checked(called_with(self._model_fn, offered))

    def _checked(self, spec: Any) -> EstimatorSpec:
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _session(self, spec: EstimatorSpec, hooks: Any, path: Any, to: str) -> MonitoredSession:
        """A session whose variables have a checkpoint's values."""
        path = path or self.latest_checkpoint()
        if path is None:
            LOGGER.info("Could not find trained model in model_dir: %s, running initialization to"
                        " %s.", self.model_dir, to)  # fmt: skip
            if self._warm_start is not None:
                warm_start(*self._warm_start)
        creator = ChiefSessionCreator(
            spec.scaffold or Scaffold(), checkpoint_filename_with_path=path
        )
        return MonitoredSession(creator, hooks)


def _wanted(predictions: Any, keys: Any) -> Any:
    if keys is None:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(f"Expected to run at least one output from {list(predictions)},"
                         f" provided {keys}.")  # fmt: skip
    return found


def _run_or_end(session: MonitoredSession, wanted: Any) -> Any:
    try:
        return session.run(wanted)
    except (OutOfRangeError, StopIteration):
        return None


def _examples(found: Any) -> Iterator[Any]:
    """The examples of a batch."""
    if not isinstance(found, Mapping):
        yield from found
        return
    lengths = {len(x) for x in flatten(found)}
    if len(lengths) > 1:
        raise ValueError(f"Batch length of predictions should be same; they are {sorted(lengths)}.")
    for i in range(next(iter(lengths), 0)):
        yield {key: value[i] for key, value in found.items()}


def train_and_evaluate(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, list[Any]]:
    """Train until `train_spec.max_steps`, or until the data end, and evaluate behind that.

    Args:
        estimator: what is trained.
        train_spec, eval_spec: the data, and how much of them.

    Returns:
        The last evaluation, and what exporters gave.
    """
    estimator.train(train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps)
    metrics = estimator.evaluate(
        eval_spec.input_fn, eval_spec.steps, eval_spec.hooks, name=eval_spec.name
    )
    return metrics, []


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "estimator.Estimator": Estimator,
    "estimator.train_and_evaluate": train_and_evaluate,
}
