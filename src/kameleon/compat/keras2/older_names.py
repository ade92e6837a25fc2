"""Names that modules of Keras 2.0 to 2.2 had, for programs and libraries of those days.

Keras 2.3 moved them, or keeps them out of its namespaces; most of what they stood for is still
there, elsewhere. A module that hasn't a name is asked for the older one by `__getattr__`, so no
module of Keras itself sees a difference.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

# By module, its older names: each with the module and the name of today.
MOVED: dict[str, dict[str, tuple[str, str]]] = {
    "keras.engine": {"Container": ("keras.engine.network", "Network")},
    "keras.engine.topology": {
        "Container": ("keras.engine.network", "Network"),
        **{
            name: ("keras.engine.saving", name)
            for name in (
                "preprocess_weights_for_loading", "load_weights_from_hdf5_group",
                "load_weights_from_hdf5_group_by_name", "save_weights_to_hdf5_group",
            )
        },
        "_object_list_uid": ("keras.utils.generic_utils", "object_list_uid"),
        "_to_list": ("keras.utils.generic_utils", "to_list"),
        "to_list": ("keras.utils.generic_utils", "to_list"),
    },
    "keras.engine.training": {
        "_slice_arrays": ("keras.utils.generic_utils", "slice_arrays"),
        "_make_batches": ("keras.engine.training_utils", "make_batches"),
        "_batch_shuffle": ("keras.engine.training_utils", "batch_shuffle"),
        "_check_array_lengths": ("keras.engine.training_utils", "check_array_length_consistency"),
        "_check_num_samples": ("keras.engine.training_utils", "check_num_samples"),
        "_standardize_input_data": ("keras.engine.training_utils", "standardize_input_data"),
        "_standardize_weights": ("keras.engine.training_utils", "standardize_weights"),
        "_weighted_masked_objective": ("keras.engine.training_utils", "weighted_masked_objective"),
    },
    "keras.layers.recurrent": {"Recurrent": ("keras.legacy.layers", "Recurrent")},
}  # fmt: skip

LAYERS = (
    "core convolutional pooling local recurrent cudnn_recurrent normalization embeddings noise"
    " advanced_activations wrappers convolutional_recurrent"
).split()
APPLICATIONS = (
    "densenet inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 nasnet resnet resnet50"
    " resnet_v2 vgg16 vgg19 xception imagenet_utils"
).split()

# By module, others whose public names it had, as it imported all of them.
IMPORTED: dict[str, tuple[str, ...]] = {
    "keras.layers": tuple(f"keras.layers.{name}" for name in LAYERS),
    "keras.preprocessing.image": (
        "keras_preprocessing.image", "keras_preprocessing.image.affine_transformations",
        "keras_preprocessing.image.utils",
    ),
    **{
        f"keras.applications.{name}": (
            f"keras_applications.{name}", "keras_applications.imagenet_utils", "keras.layers",
            "keras.utils",
        )
        for name in APPLICATIONS
    },
    # Modules that have another name today.
    "keras.applications.mobilenetv2": ("keras.applications.mobilenet_v2",),
    "keras.utils.training_utils": ("keras.utils.multi_gpu_utils",),
}  # fmt: skip
RENAMED = ("keras.applications.mobilenetv2", "keras.utils.training_utils")


def relu6(x: Any) -> Any:
    """min(max(x, 0), 6)."""
    return importlib.import_module("keras.backend").relu(x, max_value=6)


def obtain_input_shape(
    input_shape: Any, default_size: int, min_size: int, data_format: str,
    require_flatten: Any = True, weights: Any = None, include_top: Any = None,
) -> Any:  # fmt: skip
    """The shape of a network's input; `include_top` is how `require_flatten` was called."""
    theirs = importlib.import_module("keras_applications.imagenet_utils")
    flatten = require_flatten if include_top is None else include_top
    return theirs._obtain_input_shape(
        input_shape, default_size, min_size, data_format, flatten, weights
    )


def time_distributed_dense(
    x: Any, w: Any, b: Any = None, dropout: Any = None, input_dim: Any = None,
    output_dim: Any = None, timesteps: Any = None, training: Any = None,
) -> Any:  # fmt: skip
    """x W + b at each step; of one dropout for all steps, with probability `dropout`.

    Args:
        x: (samples, steps, input_dim).
        w: (input_dim, output_dim).
        b: (output_dim,), or None.
    """
    K = importlib.import_module("keras.backend")
    if dropout is not None and 0.0 < dropout < 1.0:
        kept = K.dropout(K.ones_like(x[:, :1, :]), dropout)
        x = K.in_train_phase(x * kept, x, training=training)
    y = K.dot(x, w)
    return y if b is None else K.bias_add(y, b)


WRITTEN: dict[str, dict[str, Callable[..., Any]]] = {
    "keras.layers.recurrent": {"_time_distributed_dense": time_distributed_dense},
    **{
        f"keras.applications.{name}": {"_obtain_input_shape": obtain_input_shape, "relu6": relu6}
        for name in APPLICATIONS
    },
}
MODULES = tuple(dict.fromkeys((*MOVED, *IMPORTED, *WRITTEN)))


def older(module: str, name: str) -> Any:
    """What a module of Keras had under an older name.

    Raises:
        AttributeError: there's none.
    """
    if name in WRITTEN.get(module, {}):
        return WRITTEN[module][name]
    if name in MOVED.get(module, {}):
        place, new = MOVED[module][name]
        return getattr(importlib.import_module(place), new)
    if not name.startswith("_"):
        for place in IMPORTED.get(module, ()):
            try:
                return getattr(importlib.import_module(place), name)
            except AttributeError:
                continue
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def serve(module: ModuleType) -> None:
    """Let a module of Keras have its older names, too."""
    vars(module)["__getattr__"] = lambda name: older(module.__name__, name)
