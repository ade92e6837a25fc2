"""`slim.learning`, `tf.contrib.training`, `tf.contrib.layers.optimize_loss`: whole trainings."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...backend import surface as K
from ...errors import ArgumentError
from ..clipping import clip_by_global_norm, clip_by_norm, global_norm
from ..failures import OutOfRangeError
from ..graph import GraphKeys, control_dependencies, get_collection, get_default_graph
from ..scopes import get_variable, variable_scope
from ..sessions import Session
from ..summaries import FileWriter, histogram, merge_all, scalar
from ..train.averages import get_global_step, get_or_create_global_step
from ..train.checkpoints import Saver, latest_checkpoint
from ..train.optimizer import Optimizer
from ..train.optimizers import (
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from ..train.regularized import FtrlOptimizer
from ..train.slots import plain_name
from ..variables import (
    global_variables_initializer,
    local_variables_initializer,
    trainable_variables,
)

LOG = logging.getLogger("tensorflow")
_GLOBAL_STEP: Any = object()  # as an argument: the graph's own step

OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer,
}  # fmt: skip


# Gradients ----------------------------------------------------------------------------------------


def multiply_gradients(
    grads_and_vars: Any, gradient_multipliers: Mapping[Any, Any]
) -> list[tuple[Any, Any]]:
    """The gradients of some variables, told by themselves or by their names, times a number."""

    def factor(v: Any) -> Any:
        return gradient_multipliers.get(v, gradient_multipliers.get(plain_name(v)))

    return [
        (g if g is None or factor(v) is None else g * K.cast(factor(v), g.dtype), v)
        for g, v in grads_and_vars
    ]


def clip_gradient_norms(gradients_to_variables: Any, max_norm: Any) -> list[tuple[Any, Any]]:
    """Each gradient shortened to a length."""
    return [(g if g is None else clip_by_norm(g, max_norm), v) for g, v in gradients_to_variables]


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Any], list[tuple[Any, Any]]]:
    """The same, as a function of the pairs alone."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def add_gradients_summaries(grads_and_vars: Any) -> list[Any]:
    """A histogram and the length of each gradient."""
    found = []
    for g, v in grads_and_vars:
        if g is not None:
            found.append(histogram(f"{v.op.name}/gradient", g))
            found.append(scalar(f"{v.op.name}/gradient_norm", global_norm([g])))
    return found


def _chosen_step(global_step: Any) -> Any:
    return get_or_create_global_step() if global_step is _GLOBAL_STEP else global_step


def create_train_op(
    total_loss: Any, optimizer: Any, global_step: Any = _GLOBAL_STEP, update_ops: Any = None,
    variables_to_train: Any = None, clip_gradient_norm: float = 0,
    summarize_gradients: bool = False, gate_gradients: Any = None, aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False, gradient_multipliers: Any = None,
    check_numerics: bool = True, transform_grads_fn: Callable[[Any], Any] | None = None,
) -> Any:  # fmt: skip
    """The tensor of a loss, whose value comes with a step of training.

    Args:
        total_loss: what's minimised.
        optimizer: by what.
        global_step: the variable that counts steps; None for no counting.
        update_ops: what runs with each step; by default the collection `UPDATE_OPS`.
        variables_to_train: all trainable ones, by default.
        clip_gradient_norm: the greatest length of a gradient; 0 for any.
        gradient_multipliers: factors, by variables or their names.
        transform_grads_fn: of pairs of gradients and variables, other pairs.
    """
    step = _chosen_step(global_step)
    wanted = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    if wanted:
        with control_dependencies(wanted):
            total_loss = K.identity(total_loss)
    pairs = optimizer.compute_gradients(total_loss, variables_to_train or trainable_variables())
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if gradient_multipliers:
        pairs = multiply_gradients(pairs, gradient_multipliers)
    if clip_gradient_norm and clip_gradient_norm > 0:
        pairs = clip_gradient_norms(pairs, clip_gradient_norm)
    if summarize_gradients:
        add_gradients_summaries(pairs)
    with control_dependencies([optimizer.apply_gradients(pairs, global_step=step)]):
        result = K.identity(total_loss)
    get_default_graph().add_to_collection(GraphKeys.TRAIN_OP, result)
    return result


def optimize_loss(
    loss: Any, global_step: Any, learning_rate: Any, optimizer: Any,
    gradient_noise_scale: float | None = None, gradient_multipliers: Any = None,
    clip_gradients: Any = None, learning_rate_decay_fn: Any = None, update_ops: Any = None,
    variables: Any = None, name: str | None = None, summaries: Any = None,
    colocate_gradients_with_ops: bool = False, increment_global_step: bool = True,
) -> Any:  # fmt: skip
    """The tensor of a loss, whose value comes with a step of training.

    Args:
        optimizer: one, or its class, a name such as 'Adam', or a function of the rate.
        clip_gradients: the greatest length of all gradients together, or a function of pairs.

    Raises:
        ArgumentError: (a ValueError) an argument of another kind.
    """
    step = get_global_step() if global_step is None else global_step
    shown = ("loss", "learning_rate") if summaries is None else summaries
    with variable_scope(name, "OptimizeLoss", [loss, step]):
        wanted = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        if wanted:
            with control_dependencies(wanted):
                loss = K.identity(loss)
        rate = _rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if step is None:
                raise ArgumentError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, step)
            if "learning_rate" in shown:
                scalar("learning_rate", rate)
        by = _optimizer(optimizer, rate)
        pairs = by.compute_gradients(loss, variables or trainable_variables())
        if gradient_noise_scale is not None:
            pairs = [(_noisy(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in shown:
            scalar("loss", loss)
        counted = step if increment_global_step else None
        with control_dependencies([by.apply_gradients(pairs, global_step=counted, name="train")]):
            return K.identity(loss)


def _rate(given: Any) -> Any:
    if given is None or K.is_tensor(given):
        return given
    if not isinstance(given, float) or given < 0:
        raise ArgumentError(f"Learning rate should be 0d Tensor or float. Got {given!r}")
    return get_variable("learning_rate", [], initializer=K.constant(given), trainable=False)


def _optimizer(given: Any, rate: Any) -> Any:
    if isinstance(given, Optimizer):
        return given
    if isinstance(given, str):
        if given not in OPTIMIZERS:
            raise ArgumentError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZERS)}], you provided {given}."
            )
        given = OPTIMIZERS[given]
    if not callable(given):
        raise ArgumentError(f"Unrecognized optimizer: {given!r}")
    return given() if rate is None else given(rate)


def _noisy(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    return gradient + scale * K.random_normal(K.shape(gradient), dtype=gradient.dtype)


def _clipped(pairs: Any, how: Any) -> Any:
    if callable(how):
        return how(pairs)
    if how is None:
        return pairs
    gradients, variables = zip(*pairs, strict=True)
    return list(zip(clip_by_global_norm(list(gradients), float(how))[0], variables, strict=True))


# Training and evaluating --------------------------------------------------------------------------


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, bool]:
    """One step: its loss, and whether training is to stop."""
    began = time.time()
    loss, count = sess.run([train_op, global_step])
    every = train_step_kwargs.get("should_log")
    if every is not None and sess.run(every):
        LOG.info("global step %d: loss = %.4f (%.3f sec/step)", count, loss, time.time() - began)
    stop = train_step_kwargs.get("should_stop")
    return loss, bool(stop is not None and sess.run(stop))


def train(
    train_op: Any, logdir: Any, train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = None, log_every_n_steps: int = 1, graph: Any = None, master: str = "",
    is_chief: bool = True, global_step: Any = None, number_of_steps: int | None = None,
    init_op: Any = None, init_feed_dict: Any = None, local_init_op: Any = None,
    init_fn: Callable[[Any], Any] | None = None, ready_op: Any = None, summary_op: Any = None,
    save_summaries_secs: float = 600, summary_writer: Any = None, startup_delay_steps: int = 0,
    saver: Any = None, save_interval_secs: float = 600, sync_optimizer: Any = None,
    session_config: Any = None, session_wrapper: Any = None, trace_every_n_steps: Any = None,
    ignore_live_threads: bool = False,
) -> Any:  # fmt: skip
    """Train until so many steps are done, or the inputs end; the last loss.

    The newest checkpoint of `logdir` goes before `init_op` and `init_fn`. Checkpoints and
    summaries are written there by the clock, and at the end.
    """
    folder = None if logdir is None else str(logdir)
    with (graph or get_default_graph()).as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        saver = saver or Saver(allow_empty=True)
        summary = merge_all() if summary_op is None else summary_op
        given = train_step_kwargs
        if given is None:
            last = None if number_of_steps is None else K.greater_equal(step, number_of_steps)
            log = K.equal(step % log_every_n_steps, 0) if log_every_n_steps > 0 else None
            given = {"should_stop": last, "should_log": log}
        session = Session(config=session_config)
        session = session if session_wrapper is None else session_wrapper(session)
        with session.as_default():
            _begin(session, folder, saver, init_op, init_feed_dict, local_init_op, init_fn)
            writer = summary_writer or (FileWriter(folder) if folder else None)
            kept = _Kept(session, folder, saver, step, summary, writer)
            loss, stop = None, False
            times = (save_summaries_secs, save_interval_secs)
            try:
                while not stop:
                    loss, stop = train_step_fn(session, train_op, step, given)
                    kept.by_the_clock(*times)
            except OutOfRangeError:
                LOG.info("The inputs have ended")
            kept.write()
            return loss


def _begin(
    session: Any, folder: str | None, saver: Any, init_op: Any, feeds: Any, local: Any, init_fn: Any
) -> None:
    session.run(local_variables_initializer() if local is None else local)
    found = latest_checkpoint(folder) if folder else None
    session.run(global_variables_initializer() if init_op is None else init_op, feeds)
    if found:
        saver.restore(session, found)
    elif init_fn is not None:
        init_fn(session)


class _Kept:
    """What a training writes: checkpoints and summaries."""

    def __init__(
        self, session: Any, folder: str | None, saver: Any, step: Any, summary: Any, writer: Any
    ):
        self.session, self.folder, self.saver, self.step = session, folder, saver, step
        self.summary, self.writer = summary, writer
        self.last = [time.time(), time.time()]
        if folder:
            os.makedirs(folder, exist_ok=True)

    def by_the_clock(self, summaries: float | None, checkpoints: float | None) -> None:
        """Write what wasn't written for so many seconds."""
        actions = (self.summarize, self.save)
        for i, (seconds, act) in enumerate(zip((summaries, checkpoints), actions, strict=True)):
            if seconds and time.time() - self.last[i] > seconds:
                self.last[i] = time.time()
                act()

    def summarize(self) -> None:
        """Write the summaries of this moment."""
        if self.writer is not None and self.summary is not None:
            text, count = self.session.run([self.summary, self.step])
            self.writer.add_summary(text, count)
            self.writer.flush()

    def save(self) -> None:
        """Write a checkpoint."""
        if self.folder:
            path = os.path.join(self.folder, "model.ckpt")
            self.saver.save(self.session, path, global_step=self.step)

    def write(self) -> None:
        """Write both, at the end."""
        try:
            self.summarize()
        except OutOfRangeError:  # nothing is left to be summarised
            LOG.info("The inputs have ended before the last summary")
        self.save()


def evaluate_once(
    master: str, checkpoint_path: str, logdir: Any, num_evals: int = 1, initial_op: Any = None,
    initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
    final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = _GLOBAL_STEP,
    summary_op_feed_dict: Any = None, variables_to_restore: Any = None,
    session_config: Any = None, hooks: Any = None,
) -> Any:  # fmt: skip
    """Run `eval_op` so many times with a checkpoint's values; then the value of `final_op`."""
    session = Session(config=session_config)
    with session.as_default():
        session.run([local_variables_initializer()])
        Saver(variables_to_restore, allow_empty=True).restore(session, checkpoint_path)
        if initial_op is not None:
            session.run(initial_op, initial_op_feed_dict)
        if eval_op is not None:
            for _ in range(num_evals):
                session.run(eval_op, eval_op_feed_dict)
        final = None if final_op is None else session.run(final_op, final_op_feed_dict)
        summary = merge_all() if summary_op is _GLOBAL_STEP else summary_op
        if summary is not None and logdir is not None:
            step = get_global_step()
            count = 0 if step is None else int(session.run(step))
            writer = FileWriter(str(logdir))
            writer.add_summary(session.run(summary, summary_op_feed_dict), count)
            writer.close()
        return final


# Losses under older names -------------------------------------------------------------------------


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """The values of metrics, and what updates them."""
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The same, under names."""
    names = list(names_to_tuples)
    pairs: Iterable[Any] = names_to_tuples.values()
    values, updates = aggregate_metrics(*pairs)
    return dict(zip(names, values, strict=True)), dict(zip(names, updates, strict=True))


def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """The number of elements of some variables, and of their bytes."""
    rows = [(v, int(K.count_params(v))) for v in variables]
    total = sum(n for _, n in rows)
    size = sum(n * v.dtype.size for v, n in rows)
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
        for v, n in rows:
            shape = "x".join(map(str, K.int_shape(v)))
            print(f"{v.name} ({v.dtype.name} {shape}) [{n}, bytes: {n * v.dtype.size}]")
        print(f"Total size of variables: {total}\nTotal bytes of variables: {size}")
    return total, size


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{
        f"contrib.{place}.{function.__name__}": function
        for place in ("training", "slim.learning")
        for function in (
            create_train_op, train, train_step, multiply_gradients, clip_gradient_norms,
            add_gradients_summaries, clip_gradient_norms_fn,
        )
    },
    **{
        f"contrib.{place}.evaluate_once": evaluate_once for place in ("training", "slim.evaluation")
    },
    "contrib.layers.optimize_loss": optimize_loss,
    "contrib.layers.OPTIMIZER_CLS_NAMES": OPTIMIZERS,
    "contrib.metrics.aggregate_metrics": aggregate_metrics,
    "contrib.metrics.aggregate_metric_map": aggregate_metric_map,
    "contrib.slim.model_analyzer.analyze_vars": analyze_vars,
}  # fmt: skip
