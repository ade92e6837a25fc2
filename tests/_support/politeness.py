"""A process in which Kameleon works on one engine, and what it leaves behind there.

    python politeness.py torch before   # the user imports the library, then Kameleon
    python politeness.py torch first    # Kameleon imports it

Prints JSON: what the flags were before and after, and after a change made on purpose.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import logging
import os
import random
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Flags = dict[str, Any]

# The module that a user of each library imports.
LIBRARIES = {
    "numpy": "numpy",
    "tensorflow": "tensorflow",
    "theano": "pytensor",
    "jax": "jax",
    "torch": "torch",
    "onnxruntime": "onnxruntime",
}


# What is read ---------------------------------------------------------------------------------


def attributes(thing: Any, names: str) -> Flags:
    """Attributes by their names; functions are called. Older versions may lack a name with "?"."""
    found = {}
    for name in names.split():
        value: Any = thing
        for part in name.rstrip("?").split("."):
            value = getattr(value, part, None) if name.endswith("?") else getattr(value, part)
        found[name] = value() if callable(value) else value
    return found


def fingerprint(value: Any) -> str:
    """A short text that differs where values differ."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def of_python() -> Flags:
    """The interpreter's own settings."""
    root = logging.getLogger()
    return {
        "environ": sorted(os.environ),
        **{f"environ {k}": fingerprint(v) for k, v in os.environ.items()},
        "cwd": os.getcwd(),
        "warnings": [str(f) for f in warnings.filters],
        "showwarning": warnings.showwarning,
        "logging root": (root.level, root.handlers, root.filters, logging.root.manager.disable),
        "random": fingerprint(random.getstate()),
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "gc": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.displayhook),
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "signals": {s.name: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)},
        "threads that keep a program alive": [
            t.name for t in threading.enumerate() if not t.daemon
        ],
    }


def of_numpy() -> Flags:
    """NumPy's settings, and the number of threads of its BLAS."""
    found = {
        "geterr": np.geterr(),
        "geterrcall": np.geterrcall(),
        "getbufsize": np.getbufsize(),
        "printoptions": np.get_printoptions(),
        "random": fingerprint([str(x) for x in np.random.get_state()]),
    }
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_info

        for info in threadpool_info():
            found[f"threads of {os.path.basename(info['filepath'])}"] = info["num_threads"]
    return found


TORCH = """get_default_dtype get_default_device get_num_threads get_num_interop_threads
    is_grad_enabled is_inference_mode_enabled is_anomaly_enabled initial_seed
    are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled
    get_deterministic_debug_mode get_float32_matmul_precision is_autocast_enabled
    is_warn_always_enabled _C._get_cudnn_enabled
    backends.cudnn.enabled backends.cudnn.benchmark backends.cudnn.deterministic
    backends.cudnn.allow_tf32 backends.cuda.matmul.allow_tf32
    backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    backends.mkldnn.enabled backends.mkldnn.deterministic? backends.opt_einsum.enabled
    backends.opt_einsum.strategy backends.cuda.flash_sdp_enabled
    utils.deterministic.fill_uninitialized_memory multiprocessing.get_sharing_strategy"""


def of_torch() -> Flags:
    """PyTorch's settings."""
    import torch
    import torch.backends.opt_einsum  # older versions load it when it's asked for

    return attributes(torch, TORCH) | {
        "random": fingerprint(torch.get_rng_state().tolist()),
        "new tensors": [str(torch.tensor(x).dtype) for x in (1, 1.0, True)],
        "new tensor": str(torch.ones(1).requires_grad) + str(torch.ones(1).device),
        "needs gradient": torch.ones(1, requires_grad=True).mul(2).requires_grad,
        "print": fingerprint(vars(torch._tensor_str.PRINT_OPTS)),
    }


def of_jax() -> Flags:
    """JAX's settings: those of the process, and those in force in this thread."""
    import jax
    import jax.numpy as jnp

    found = {f"process: {k}": v for k, v in jax.config.values.items()}
    for name in jax.config.values:
        with contextlib.suppress(AttributeError):
            found[f"thread: {name}"] = getattr(jax.config, name)
    return found | {
        "new arrays": [str(jnp.asarray(x).dtype) for x in (1, 1.0, np.ones(1), np.ones(1, int))],
        "made arrays": [str(x.dtype) for x in (jnp.ones(1), jnp.arange(1))],
        "devices": jax.devices(),
        "print": fingerprint(np.get_printoptions()),
    }


TENSORFLOW = """executing_eagerly config.get_soft_device_placement
    config.get_visible_devices config.functions_run_eagerly
    config.threading.get_inter_op_parallelism_threads
    config.threading.get_intra_op_parallelism_threads
    config.optimizer.get_jit config.optimizer.get_experimental_options
    config.experimental.tensor_float_32_execution_enabled
    config.experimental.get_synchronous_execution debugging.get_log_device_placement
    get_logger.level"""


def of_tensorflow() -> Flags:
    """TensorFlow's settings; those of its Keras, once it's loaded."""
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.python.framework import config, ops

    found = {}
    for name in TENSORFLOW.split():
        value: Any = tf
        for part in name.split("."):
            value = getattr(value() if callable(value) and part == "level" else value, part)
        found[name] = value() if callable(value) else value
    found |= {
        "deterministic": config.is_op_determinism_enabled(),
        "numpy promotion": ops.is_auto_dtype_conversion_enabled(),
        "seed": context.global_seed(),
        "strategy": tf.distribute.has_strategy(),
        "default graph": len(tf.compat.v1.get_default_graph().get_operations()),
        "memory growth": {
            d.name: tf.config.experimental.get_memory_growth(d)
            for d in tf.config.list_physical_devices("GPU")
        },
        "new tensors": [tf.constant(x).dtype.name for x in (1, 1.0)],
        "v2": tf.compat.v1.control_flow_v2_enabled(),
    }
    if "keras" in sys.modules:
        import keras

        found["keras"] = (keras.config.floatx(), keras.config.epsilon(), keras.config.backend())
    return found


def of_theano() -> Flags:
    """PyTensor's settings, and what can be registered with it."""
    import pytensor
    from pytensor.compile import mode

    found = {}
    for name in pytensor.config._config_var_dict:
        try:
            found[name] = getattr(pytensor.config, name)
        except Exception as error:  # some can't be read on some machines
            found[name] = type(error).__name__
    return found | {
        "modes": list(mode.predefined_modes),
        "linkers": list(mode.predefined_linkers),
        "optimizers": list(mode.predefined_optimizers),
        "rewrites": sorted(mode.optdb._names),
        "new tensors": [pytensor.tensor.constant(x).dtype for x in (1, 1.0)],
    }


_setters_called: list[str] = []
ONNXRUNTIME_SETTERS = """set_default_logger_severity set_default_logger_verbosity set_seed
    disable_telemetry_events enable_telemetry_events set_global_thread_pool_sizes
    set_default_thread_pool_sizes"""


def watch_onnxruntime() -> None:
    """Note calls of setters: what they set can't be read."""
    import onnxruntime

    places = (
        onnxruntime,
        onnxruntime.capi._pybind_state,
        sys.modules.get("onnxruntime.capi.onnxruntime_pybind11_state"),
    )
    for place in places:
        for name in ONNXRUNTIME_SETTERS.split():
            original = getattr(place, name, None)
            if original is not None and not hasattr(original, "watched"):
                setattr(place, name, _watched(name, original))


def _watched(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        _setters_called.append(f"{name}{args}")
        return original(*args)

    call.watched = True  # type: ignore[attr-defined]
    return call


def of_onnxruntime() -> Flags:
    """ONNX Runtime's settings."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    names = [n for n in dir(options) if not n.startswith("_")]
    found = {n: getattr(options, n) for n in names if not callable(getattr(options, n))}
    return found | {
        "providers": onnxruntime.get_available_providers(),
        "device": onnxruntime.get_device(),
        "setters called": list(_setters_called),
    }


# By name of an engine: what reads the flags of its library.
READERS: Mapping[str, Callable[[], Flags]] = {
    "numpy": of_numpy,
    "tensorflow": of_tensorflow,
    "theano": of_theano,
    "jax": of_jax,
    "torch": of_torch,
    "onnxruntime": of_onnxruntime,
}


def snapshot(engine: str) -> dict[str, str]:
    """All flags, as texts that can be compared between processes."""
    parts = {"python": of_python, "numpy": of_numpy, engine: READERS.get(engine, dict)}
    for read in parts.values():
        read()  # reading loads things, too
    found = {f"{part}: {k}": v for part, read in parts.items() for k, v in read().items()}
    return {k: re.sub(r"0x[0-9a-f]+", "0x…", repr(v)) for k, v in found.items()}


# A change on purpose --------------------------------------------------------------------------


def _rude_jax() -> None:
    import jax

    jax.config.update("jax_default_matmul_precision", "highest")


def _rude_torch() -> None:
    import torch

    torch.set_default_dtype(torch.float64)


def _rude_tensorflow() -> None:
    import tensorflow as tf

    tf.config.set_soft_device_placement(not tf.config.get_soft_device_placement())


def _rude_theano() -> None:
    import pytensor

    pytensor.config.floatX = "float32"


def _rude_onnxruntime() -> None:
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)


# By name of an engine: what a rude engine would do.
RUDE: Mapping[str, Callable[[], object]] = {
    "numpy": lambda: (np.seterr(all="raise"), np.random.random()),
    "tensorflow": _rude_tensorflow,
    "theano": _rude_theano,
    "jax": _rude_jax,
    "torch": _rude_torch,
    "onnxruntime": _rude_onnxruntime,
}


# The work -------------------------------------------------------------------------------------


def train(K: Any, dtype: str) -> Any:
    """Train a small network with a bit of everything for two steps; return its function."""
    K.set_floatx(dtype)
    images = K.placeholder((None, 6, 6, 1))
    labels = K.placeholder((None,), dtype="int32")
    kernel = K.random_normal_variable((3, 3, 1, 4), 0.0, 0.3, seed=1)
    weights = K.random_uniform_variable((36, 3), -0.3, 0.3, seed=2)
    x = K.pool2d(K.relu(K.conv2d(images, kernel, padding="same")), (2, 2), strides=(2, 2))
    x = K.in_train_phase(K.dropout(x, 0.3, seed=3), x)
    x, *_ = K.normalize_batch_in_training(x, K.ones((4,)), K.zeros((4,)), [0, 1, 2])
    probabilities = K.softmax(K.dot(K.reshape(x, (-1, 36)), weights))
    loss = K.mean(K.sparse_categorical_crossentropy(labels, probabilities))
    slopes = K.gradients(loss, [kernel, weights])
    updates = [K.update_sub(v, 0.1 * g) for v, g in zip([kernel, weights], slopes, strict=True)]
    step = K.function([images, labels, K.learning_phase()], [loss, probabilities], updates)
    rng = np.random.default_rng(0)
    for size in (4, 5):
        step([rng.random((size, 6, 6, 1)).astype(dtype), np.arange(size) % 3, 1])
    K.set_floatx("float32")
    return step


@contextlib.contextmanager
def fails(*kinds: type[Exception]) -> Iterator[None]:
    """Inside, one of these errors is to be raised."""
    try:
        yield
    except kinds:
        return
    raise AssertionError(f"none of {kinds} was raised")


def work(engine: str) -> None:
    """Import Kameleon on an engine, and do what users do: train, switch, make mistakes."""
    from kameleon import backend as K
    from kameleon.errors import EvaluationError, FeedError

    assert K.backend() == engine
    for dtype in ("float32", "float64"):
        step = train(K, dtype)
        K.set_engine("numpy")
        step([np.zeros((2, 6, 6, 1), dtype), [0, 1], 1])
        K.set_engine(engine)
    table, i = K.variable(np.ones((3, 2))), K.placeholder((None,), dtype="int32")
    f = K.function([i], [K.gather(table, i)], [K.update_add(table, 1.0)])
    f([[0, 1]])
    with fails(EvaluationError):
        f([[5]])
    with fails(FeedError):
        f([[0.5]])
    with fails(ValueError):
        K.set_engine("nothing of this name")
    K.eval(K.cumsum(K.exp(table) / 0.0))
    K.rnn(lambda x, s: (x + s[0], [x + s[0]]), K.ones((2, 3, 4)), [K.zeros((2, 4))])
    thread = threading.Thread(target=lambda: f([[2]]))
    thread.start()
    thread.join()
    f([[2]])
    K.set_value(table, np.zeros((3, 2)))
    K.clear_session()
    assert K.get_value(table).shape == (3, 2)


# The entries of a snapshot that change where the program draws random numbers.
GENERATORS = ("python: random", "numpy: random")


def main(engine: str, order: str) -> None:
    """Do the work, and print the flags of before and after."""
    found: dict[str, Any] = {}
    random.seed(1)
    np.random.seed(1)
    found["seeded"] = {name: snapshot("")[name] for name in GENERATORS}
    if order == "before":
        importlib.import_module(LIBRARIES.get(engine, "numpy"))
        if engine == "tensorflow":
            importlib.import_module("keras")
        if engine == "onnxruntime":
            watch_onnxruntime()
        found["before"] = snapshot(engine)
    found["modules before"] = sorted(sys.modules)
    work(engine)
    found["modules"] = sorted(sys.modules)
    found["after"] = snapshot(engine)
    if order == "before" and engine in RUDE:
        RUDE[engine]()
        found["rude"] = snapshot(engine)
    print(f"\n{json.dumps(found)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
