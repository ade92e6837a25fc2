"""What estimators of TensorFlow 1.15 compute: trained, evaluated, asked, gone on with.

python estimators.py estimators.json
"""

import json
import os
import sys
import tempfile

import numpy as np


def found_by(tf):
    """What a TensorFlow gives, by name."""
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3).astype("float32")
    Y = (X @ np.array([[1.0], [-2.0], [0.5]], "float32"))[:, 0]

    def data(params=None, repeat=None):
        d = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        if repeat:
            d = d.repeat(repeat)
        return d.batch(8)

    def model_fn(features, labels, mode, params):
        h = tf.layers.dense(
            features["x"],
            4,
            activation=tf.nn.tanh,
            kernel_initializer=tf.constant_initializer(0.1),
            name="hidden",
        )
        out = tf.squeeze(
            tf.layers.dense(
                h,
                1,
                kernel_initializer=tf.constant_initializer(np.linspace(-0.5, 0.5, 4)),
                name="out",
            ),
            -1,
        )
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": out, "h": h})
        loss = tf.losses.mean_squared_error(labels, out)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(
                mode,
                loss=loss,
                eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, out)},
            )
        op = tf.train.MomentumOptimizer(params["rate"], 0.9).minimize(
            loss, global_step=tf.train.get_global_step()
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)

    found = {}
    d = tempfile.mkdtemp()
    e = tf.estimator.Estimator(
        model_fn,
        d,
        tf.estimator.RunConfig(save_checkpoints_steps=5, tf_random_seed=1),
        {"rate": 0.05},
    )
    found["before"] = e.evaluate(data)
    assert e.train(data, steps=4) is e
    found["evaluated"] = e.evaluate(data)
    found["names"] = sorted(e.get_variable_names())
    e.train(data)
    found["to the end"] = e.evaluate(data, steps=2, name="two")
    e.train(lambda: data(repeat=9), max_steps=30)
    e.train(data, max_steps=20)
    found["later"] = e.evaluate(data)
    ps = list(e.predict(lambda: data()))
    found["predictions"] = {
        "n": len(ps),
        "keys": sorted(ps[0]),
        "y": np.array([p["y"] for p in ps]),
        "h": ps[7]["h"],
    }
    b = next(e.predict(data, predict_keys=["h"], yield_single_examples=False))
    found["batch"] = {"keys": sorted(b), "shape": list(b["h"].shape)}
    found["kernel"] = e.get_variable_value("hidden/kernel")
    found["latest"] = os.path.basename(e.latest_checkpoint())
    found["files"] = sorted(x for x in os.listdir(d) if x.endswith(".index"))
    w = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={"rate": 0.05}, warm_start_from=d
    )
    w.train(data, steps=1)
    found["warm"] = w.evaluate(data)
    fn = tf.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=16, num_epochs=2, shuffle=False)
    found["numpy"] = e.evaluate(fn)
    r = tf.estimator.train_and_evaluate(
        e, tf.estimator.TrainSpec(data, max_steps=34), tf.estimator.EvalSpec(data, steps=3)
    )
    found["both"] = r[0]
    errors = {}

    def fails(name, f):
        try:
            f()
        except Exception as error:
            errors[name] = type(error).__name__
        else:
            errors[name] = None

    fails("both", lambda: e.train(data, steps=1, max_steps=2))
    fails("steps", lambda: e.train(data, steps=0))
    fails("spec", lambda: tf.estimator.EstimatorSpec("train", loss=tf.constant(1.0)))
    fails("loss", lambda: tf.estimator.EstimatorSpec("eval", loss=tf.constant([1.0, 2.0])))
    fails("predictions", lambda: tf.estimator.EstimatorSpec("infer"))
    fails("features", lambda: tf.estimator.Estimator(lambda labels: None))
    fails("params", lambda: tf.estimator.Estimator(lambda features: None, params={"a": 1}))
    fails(
        "labels", lambda: tf.estimator.Estimator(lambda features, mode: None).train(data, steps=1)
    )
    fails(
        "no spec",
        lambda: tf.estimator.Estimator(lambda features, labels, mode: None).train(data, steps=1),
    )
    fails("shuffle", lambda: tf.estimator.inputs.numpy_input_fn(X))
    fails("folders", lambda: tf.estimator.Estimator(model_fn, "a", tf.estimator.RunConfig("b")))
    fails(
        "config", lambda: tf.estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)
    )
    fails("replace", lambda: tf.estimator.RunConfig().replace(master="x"))
    fails("untrained", lambda: tf.estimator.Estimator(model_fn).get_variable_names())
    fails(
        "nan",
        lambda: tf.estimator.Estimator(
            lambda features, labels, mode: tf.estimator.EstimatorSpec(
                mode, loss=tf.constant(np.nan), train_op=tf.no_op()
            )
        ).train(data, steps=1),
    )
    found["errors"] = errors

    # tpu
    def tpu_model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, dict(params, rate=0.05))
        out = features["x"][:, 0]
        c = tf.contrib.tpu
        assert params["batch_size"] == {"train": 8, "eval": 4, "infer": 2}[mode], params
        return c.TPUEstimatorSpec(
            mode,
            predictions=spec.predictions or None,
            loss=spec.loss,
            train_op=spec.train_op,
            eval_metrics=None
            if mode != "eval"
            else (lambda y, o: {"mse": tf.metrics.mean_squared_error(y, o)}, [labels, out]),
        )

    def tpu_data(params):
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(params["batch_size"])

    t = tf.contrib.tpu.TPUEstimator(
        tpu_model,
        tempfile.mkdtemp(),
        tf.contrib.tpu.RunConfig(
            tpu_config=tf.contrib.tpu.TPUConfig(
                iterations_per_loop=4,
                per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
            )
        ),
        {"rate2": 1},
        use_tpu=False,
        train_batch_size=8,
        eval_batch_size=4,
        predict_batch_size=2,
    )
    t.train(tpu_data, max_steps=5)
    found["tpu"] = t.evaluate(tpu_data)
    found["tpu predictions"] = np.array([p["y"] for p in t.predict(tpu_data)])
    return plain(found)


def plain(x):
    """Arrays as lists, for JSON."""
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, np.generic):
        return x.item()
    return [plain(y) for y in x] if isinstance(x, (list, tuple)) else x


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump(found_by(tensorflow), file, indent=1, sort_keys=True)
        file.write("\n")
