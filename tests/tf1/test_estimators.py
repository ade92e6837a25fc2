"""Estimators compute what they compute on TensorFlow 1.15, and go on from their checkpoints."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kameleon.engines import Engine
from kameleon.errors import UnsupportedError
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")
RECORDED = Path(__file__).parents[1] / "recorded" / "estimators.py"


def _recorder() -> Any:
    spec = importlib.util.spec_from_file_location("recorded_estimators", RECORDED)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _same(path: str, found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for key, value in expected.items():
            _same(f"{path}/{key}", found[key], value)
    elif isinstance(expected, float) or (
        expected and isinstance(np.ravel(expected)[0], np.floating)
    ):
        assert_allclose(found, expected, rtol=2e-5, atol=2e-5, err_msg=path)
    else:
        assert found == expected, path


def test_estimators_compute_what_was_recorded(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    expected = json.loads(RECORDED.with_suffix(".json").read_text("utf-8"))
    _same("", _recorder().found_by(tf), expected)


@pytest.fixture
def data() -> Any:
    x = np.linspace(0.0, 1.0, 12, dtype="float32")
    return lambda: tf.data.Dataset.from_tensor_slices((x, 2.0 * x)).batch(4)


def line(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """`w x`, which begins at 0."""
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    out = w * features
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=out)
    loss = tf.reduce_mean(tf.square(out - labels))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train, eval_metric_ops=params.get("metrics")
    )


class Told(tf.estimator.CheckpointSaverListener):  # type: ignore[misc]
    """Notes when checkpoints are written, and stops at the second one."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.steps.append(("before", global_step_value))

    def after_save(self, session: Any, global_step_value: int) -> Any:
        self.steps.append(("after", global_step_value))
        return global_step_value == 2


def test_listeners_are_told_of_checkpoints_and_stop(tmp_path: Path, data: Any) -> None:
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=2)
    told = Told()
    made = tf.estimator.Estimator(line, config=config, params={})
    made.train(data, steps=3, saving_listeners=[told])
    assert told.steps == [("before", 0), ("after", 0), ("before", 2), ("after", 2)]
    assert made.latest_checkpoint() == str(tmp_path / "model.ckpt-2")


def test_predictions_that_are_no_dict_come_one_by_one(tmp_path: Path, data: Any) -> None:
    made = tf.estimator.Estimator(line, str(tmp_path), params={})
    made.train(lambda: data().repeat(40))
    found = list(made.predict(data))
    assert_allclose(found, made.get_variable_value("w") * np.linspace(0.0, 1.0, 12), rtol=1e-5)
    with pytest.raises(ValueError, match="predict_keys"):
        next(made.predict(data, predict_keys=["y"]))


def test_a_metric_that_takes_a_name_of_ours_is_refused(tmp_path: Path, data: Any) -> None:
    value = tf.metrics.mean(tf.constant([1.0]))
    made = tf.estimator.Estimator(line, str(tmp_path), params={"metrics": {"loss": value}})
    with pytest.raises(ValueError, match="'loss' is not allowed"):
        made.evaluate(data)


def test_warm_starts_choose_and_rename(tmp_path: Path, data: Any) -> None:
    first = tf.estimator.Estimator(line, str(tmp_path / "first"), params={}).train(data)

    def other(features: Any, mode: str) -> Any:
        w = tf.get_variable("other", [], initializer=tf.zeros_initializer())
        return tf.estimator.EstimatorSpec(mode, predictions={"w": w * features})

    def of(**settings: Any) -> Any:
        start = tf.estimator.WarmStartSettings(str(tmp_path / "first"), **settings)
        made = tf.estimator.Estimator(other, str(tmp_path / "second"), warm_start_from=start)
        return [float(found["w"]) for found in made.predict(data)]

    renamed = of(var_name_to_prev_var_name={"other": "w"})
    assert_allclose(renamed[-1], first.get_variable_value("w"), rtol=1e-6)
    assert not any(of(vars_to_warm_start=None))
    with pytest.raises(ValueError, match="misspelled"):
        of(var_name_to_prev_var_name={"another": "w"})
    with pytest.raises(UnsupportedError, match="vocab"):
        of(var_name_to_vocab_info={"other": 1})


def test_tables_are_data(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    feed = tf.estimator.inputs.pandas_input_fn(
        table[["a"]], table["b"], batch_size=2, num_epochs=2, shuffle=False
    )

    def sums(features: Any, labels: Any, mode: str) -> Any:
        metrics = {"seen": tf.metrics.mean(features["a"] * labels)}
        return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_sum(labels), eval_metric_ops=metrics)

    found = tf.estimator.Estimator(sums, str(tmp_path)).evaluate(feed)
    assert_allclose([found["seen"], found["loss"]], [2.0 / 3.0, 2.0 / 3.0], rtol=1e-6)
    with pytest.raises(ValueError, match="target column"):
        tf.estimator.inputs.pandas_input_fn(table, table["b"], shuffle=True, target_column="a")


def test_programs_for_accelerators_run_where_there_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, data: Any
) -> None:
    tpu, seen = tf.contrib.tpu, []

    def model(features: Any, labels: Any, mode: str, params: Any) -> Any:
        spec = line(features, labels, mode, {})
        host = (lambda x: [seen.append(x) or x], [spec.loss])
        return tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op, host_call=host)

    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(num_shards=8), model_dir=str(tmp_path))
    made = tpu.TPUEstimator(model, config=config, use_tpu=True, train_batch_size=4)
    assert "no TPU" in caplog.text
    made.train(lambda params: data(), max_steps=2)
    assert seen and made.latest_checkpoint() == str(tmp_path / "model.ckpt-2")
    with pytest.raises(ValueError, match="reserved"):
        tpu.TPUEstimator(model, config=config, params={"batch_size": 1}, use_tpu=False)
    with pytest.raises(ValueError, match="config"):
        tpu.TPUEstimator(model, config=tf.estimator.RunConfig())
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    assert tpu.CrossShardOptimizer(optimizer).minimize.__self__ is optimizer
