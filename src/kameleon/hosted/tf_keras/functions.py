"""Initializers, activations, regularizers and constraints of `tf.keras`, where they differ."""

from __future__ import annotations

import inspect
from typing import Any

import keras.initializers as theirs
import keras.regularizers as regularizers
import numpy as np
from keras import backend as K
from keras.constraints import Constraint

from ...tf1.second import gelu, silu
from .base import dtype_name

# --- initializers ---------------------------------------------------------------------------------

CLASSES = (
    "Zeros", "Ones", "Constant", "RandomNormal", "RandomUniform", "TruncatedNormal",
    "VarianceScaling", "Orthogonal", "Identity",
)  # fmt: skip
# Functions of a seed there, which are classes here; by the class's name.
SCALED = {
    "GlorotNormal": "glorot_normal",
    "GlorotUniform": "glorot_uniform",
    "HeNormal": "he_normal",
    "HeUniform": "he_uniform",
    "LecunNormal": "lecun_normal",
    "LecunUniform": "lecun_uniform",
}
OLDER = {  # TensorFlow 1's other names of classes
    "zeros": "Zeros", "ones": "Ones", "constant": "Constant", "identity": "Identity",
    "orthogonal": "Orthogonal", "normal": "RandomNormal", "random_normal": "RandomNormal",
    "uniform": "RandomUniform", "random_uniform": "RandomUniform",
    "truncated_normal": "TruncatedNormal",
}  # fmt: skip


def _initializer(name: str, made_by: Any) -> Any:
    """A class that takes `dtype`, too, when it's made and when it's called."""
    base = made_by if isinstance(made_by, type) else theirs.VarianceScaling
    own = inspect.signature(made_by if base is not made_by else base.__init__).parameters
    order = [key for key, p in own.items() if key != "self" and p.kind is p.POSITIONAL_OR_KEYWORD]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = dict(zip([*order, "dtype"], args, strict=False)) | kwargs
        kind = given.pop("dtype", None)
        given.pop("verify_shape", None)
        if base is made_by:
            base.__init__(self, **given)
        else:
            vars(self).update(vars(made_by(**given)))
        self.dtype = dtype_name(kind)

    def __call__(  # noqa: N807
        self: Any, shape: Any, dtype: Any = None, partition_info: Any = None, **_: Any
    ) -> Any:
        sizes = tuple(int(n) for n in shape)
        return base.__call__(self, sizes, dtype=dtype_name(dtype) or self.dtype or K.floatx())

    return type(name, (base,), {"__init__": __init__, "__call__": __call__, "__module__": __name__})


INITIALIZERS: dict[str, Any] = {
    **{name: _initializer(name, getattr(theirs, name)) for name in CLASSES},
    **{name: _initializer(name, getattr(theirs, older)) for name, older in SCALED.items()},
}
globals().update(INITIALIZERS)  # so that pickle finds them


# --- constraints and regularizers ----------------------------------------------------------------


class RadialConstraint(Constraint):  # type: ignore[misc]
    """Kernels (rows, columns, inputs, outputs) that are alike all around their middle."""

    def __call__(self, w: Any) -> Any:
        """The kernel, each place with the value on the way straight up from the middle."""
        rows, columns = K.int_shape(w)[:2]
        middle = (rows - 1) // 2
        rings = np.array(
            [[max(abs(i - middle), abs(j - middle)) for j in range(columns)] for i in range(rows)]
        )
        upwards = np.clip(middle - rings, 0, rows - 1)
        column = w[:, middle]
        return K.gather(column, K.constant(upwards, dtype="int32"))


class L1(regularizers.L1L2):  # type: ignore[misc]
    """`l1 · Σ |w|`."""

    def __init__(self, l1: float = 0.01, **kwargs: Any) -> None:
        super().__init__(l1=kwargs.get("l", l1))


class L2(regularizers.L1L2):  # type: ignore[misc]
    """`l2 · Σ w²`."""

    def __init__(self, l2: float = 0.01, **kwargs: Any) -> None:
        super().__init__(l2=kwargs.get("l", l2))


def swish(x: Any) -> Any:
    """`x · sigmoid(x)`."""
    return silu(x)


NAMES: dict[str, Any] = {
    **{f"initializers.{name}": kind for name, kind in INITIALIZERS.items()},
    **{f"initializers.{older}": INITIALIZERS[name] for name, older in SCALED.items()},
    **{f"initializers.{older}": INITIALIZERS[name] for older, name in OLDER.items()},
    "constraints.RadialConstraint": RadialConstraint,
    "constraints.radial_constraint": RadialConstraint,
    "regularizers.L1": L1,
    "regularizers.L2": L2,
    "activations.swish": swish,
    "activations.gelu": gelu,
}
