"""Layers of `tf.keras` that Keras 2.3.1 lacks, and those that compute otherwise there."""

from __future__ import annotations

from typing import Any

import keras.layers as theirs
from keras import backend as K
from keras import constraints, initializers, regularizers
from keras.engine.base_layer import Layer
from keras.engine.input_layer import InputLayer

from ...errors import ArgumentError, UnsupportedError
from .base import dtype_name
from .shapes import plain
from .version import is_second


def Input(  # noqa: N802
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A placeholder that a model begins with.

    Args:
        shape: ints and None, without the samples' axis.
        batch_size: the number of samples, if it's fixed.
        name: the layer's name.
        dtype: of the elements.
        sparse: whether it's fed SciPy's sparse matrices.
        tensor: a tensor to begin with.
        ragged: there are no ragged tensors here.
        kwargs: `batch_shape` or `batch_input_shape`, the shape with the samples' axis.
    """
    if ragged:
        raise UnsupportedError("Input(ragged=True): pad the sequences, and use Masking")
    whole = kwargs.pop("batch_shape", kwargs.pop("batch_input_shape", None))
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
    if whole is None and shape is not None:
        sizes = (shape,) if isinstance(shape, int) else plain(shape)
        whole = (batch_size, *sizes)
    elif whole is None and tensor is None:
        raise ArgumentError("Please provide to Input a `shape`, or a `tensor`")
    layer = InputLayer(
        batch_input_shape=plain(whole),
        name=name,
        dtype=dtype_name(dtype) or (None if tensor is not None else K.floatx()),
        sparse=sparse,
        input_tensor=tensor,
    )
    outputs = layer._inbound_nodes[0].output_tensors
    return outputs[0] if len(outputs) == 1 else outputs


class BatchNormalization(theirs.BatchNormalization):  # type: ignore[misc]
    """Normalizes over samples; the moving variance is TensorFlow's.

    For images (four axes), whose kernel is the fused one there, the moving variance moves towards
    the unbiased variance, `n / (n - 1)` times the batch's; else, or with `fused=False`, towards the
    batch's own. In TensorFlow 2, a layer that isn't trainable uses what it has moved to.
    """

    def __init__(
        self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
        scale: bool = True, beta_initializer: Any = "zeros", gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros", moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
        gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
        renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
        virtual_batch_size: int | None = None, adjustment: Any = None, name: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        refused = {"renorm": renorm, "virtual_batch_size": virtual_batch_size,
                   "adjustment": adjustment}  # fmt: skip
        for key, value in refused.items():
            if value:
                raise UnsupportedError(
                    f"BatchNormalization({key}={value!r}) isn't there; leave it out, or use"
                    " LayerNormalization where batches are small"
                )
        if isinstance(axis, (list, tuple)):
            if len(axis) != 1:
                raise UnsupportedError(f"BatchNormalization(axis={axis}): one axis alone")
            axis = axis[0]
        super().__init__(
            axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale,
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip
        self.fused = fused

    @property
    def trainable(self) -> bool:
        """Whether gamma and beta are changed in training; in TensorFlow 2, also whether training
        uses the batch's own mean and variance.
        """
        return bool(vars(self).get("_is_trainable", True))

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_is_trainable"] = bool(value)
        if "_flag" in vars(self):
            K.set_value(self._flag, float(bool(value)))

    def _by_batch(self, yes: Any, no: Any) -> Any:
        """The first tensor where the layer is trainable when a step runs, the second elsewhere."""
        if not is_second():
            return yes
        if "_flag" not in vars(self):
            self.__dict__["_flag"] = K.variable(float(self.trainable), name="trainable")
        return K.switch(K.greater(self._flag, 0.5), yes, no)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The normalized inputs."""
        axis = self.axis % K.ndim(inputs)
        others = [i for i in range(K.ndim(inputs)) if i != axis]

        def normalized(mean: Any, variance: Any) -> Any:
            sizes = [1] * K.ndim(inputs)
            sizes[axis] = K.int_shape(inputs)[axis]
            wide = [None if w is None else K.reshape(w, sizes)
                    for w in (mean, variance, self.beta, self.gamma)]  # fmt: skip
            return K.batch_normalization(inputs, *wide, epsilon=self.epsilon)

        kept = (self.moving_mean, self.moving_variance)
        if training is False or (isinstance(training, int) and training == 0):
            return normalized(*kept)
        mean, variance = K.mean(inputs, others), K.var(inputs, others)
        count = K.prod(K.cast(K.stack([K.shape(inputs)[i] for i in others]), K.floatx()))
        unbiased = variance * (count / K.maximum(count - 1, 1.0))
        is_fused = self.fused is not False and K.ndim(inputs) == 4
        self.add_update(
            [
                K.moving_average_update(self.moving_mean, mean, self.momentum),
                K.moving_average_update(
                    self.moving_variance, unbiased if is_fused else variance, self.momentum
                ),
            ],
            inputs,
        )
        # What is chosen are the statistics: of those that aren't, no NaN reaches the gradients.
        chosen = [
            K.in_train_phase(self._by_batch(of_batch, moving), moving, training=training)
            for of_batch, moving in zip((mean, variance), kept, strict=True)
        ]
        result = normalized(*chosen)
        result._uses_learning_phase = any(getattr(x, "_uses_learning_phase", False) for x in chosen)
        return result


class LayerNormalization(Layer):  # type: ignore[misc]
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, for each sample by itself.

    Args:
        axis: one or several axes, over which mean and variance are taken.
        epsilon: added to the variance.
        center: whether there's a `beta`.
        scale: whether there's a `gamma`.
        kwargs: `beta_initializer`, `gamma_regularizer` … and those of all layers.
    """

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True

    def _axes(self, rank: int) -> list[int]:
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        return [int(axis) % rank for axis in axes]

    def build(self, input_shape: Any) -> None:
        """Make gamma and beta."""
        sizes = [input_shape[axis] for axis in self._axes(len(input_shape))]
        self.gamma = self.beta = None
        for name in ["gamma"] * self.scale + ["beta"] * self.center:
            weight = self.add_weight(
                name=name,
                shape=sizes,
                initializer=getattr(self, f"{name}_initializer"),
                regularizer=getattr(self, f"{name}_regularizer"),
                constraint=getattr(self, f"{name}_constraint"),
            )
            setattr(self, name, weight)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The normalized inputs."""
        axes, shape = self._axes(K.ndim(inputs)), K.int_shape(inputs)
        sizes = [shape[i] if i in axes else 1 for i in range(len(shape))]
        mean = K.mean(inputs, axes, keepdims=True)
        scaled = (inputs - mean) / K.sqrt(K.var(inputs, axes, keepdims=True) + self.epsilon)
        if self.gamma is not None:
            scaled = scaled * K.reshape(self.gamma, sizes)
        return scaled if self.beta is None else scaled + K.reshape(self.beta, sizes)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a layer again."""
        config = {
            "axis": self.axis,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            "beta_initializer": initializers.serialize(self.beta_initializer),
            "gamma_initializer": initializers.serialize(self.gamma_initializer),
            "beta_regularizer": regularizers.serialize(self.beta_regularizer),
            "gamma_regularizer": regularizers.serialize(self.gamma_regularizer),
            "beta_constraint": constraints.serialize(self.beta_constraint),
            "gamma_constraint": constraints.serialize(self.gamma_constraint),
        }
        return {**super().get_config(), **config}


class Attention(Layer):  # type: ignore[misc]
    """Luong's attention: `softmax(query · keyᵀ) · value`.

    Inputs are `[query (n, q, d), value (n, v, d)]`, and perhaps a key (n, v, d), the value by
    default. Masks are `[mask of query, mask of value]`.

    Args:
        use_scale: whether scores are scaled by a trained number.
        causal: whether a place sees those up to itself alone.
        kwargs: `dropout` of the weights, in training; and those of all layers.
    """

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        self.causal = kwargs.pop("causal", False)
        self.dropout = kwargs.pop("dropout", 0.0)
        super().__init__(**kwargs)
        self.use_scale, self.supports_masking = use_scale, True

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        scores = K.batch_dot(query, key, axes=2)
        return scores if self.scale is None else scores * self.scale

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """The values, weighted by the attention."""
        if not isinstance(inputs, list) or len(inputs) not in (2, 3):
            raise ArgumentError(
                f"{type(self).__name__} takes a list [query, value] or [query, value, key]"
            )
        query, value = inputs[:2]
        scores = self._scores(query, inputs[2] if len(inputs) > 2 else value)
        masks = mask if isinstance(mask, list) else [None, None]
        allowed = None if masks[1] is None else K.expand_dims(K.cast(masks[1], K.floatx()), 1)
        if self.causal:
            ones = K.ones_like(scores[0])
            lower = K.cast(K.cumsum(ones, 0) >= K.cumsum(ones, 1), K.floatx())
            lower = K.expand_dims(lower, 0)
            allowed = lower if allowed is None else allowed * lower
        if allowed is not None:
            scores = scores - 1e9 * (1 - allowed)
        weights = K.softmax(scores)
        if self.dropout:
            weights = K.in_train_phase(
                lambda: K.dropout(weights, self.dropout), weights, training=training
            )
        result = K.batch_dot(weights, value)
        if masks[0] is not None:
            result = result * K.expand_dims(K.cast(masks[0], K.floatx()), -1)
        return result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the query."""
        return mask[0] if isinstance(mask, list) else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the query, with the value's size of the last axis."""
        return (*input_shape[0][:-1], input_shape[1][-1])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a layer again."""
        config = {"use_scale": self.use_scale, "causal": self.causal, "dropout": self.dropout}
        return {**super().get_config(), **config}


class AdditiveAttention(Attention):
    """Bahdanau's attention: scores `Σ scale · tanh(query + key)`."""

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self.scale = None
        if self.use_scale:
            size = input_shape[1][-1]
            self.scale = self.add_weight(name="scale", shape=[size], initializer="glorot_uniform")
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        both = K.tanh(K.expand_dims(query, 2) + K.expand_dims(key, 1))
        return K.sum(both if self.scale is None else both * self.scale, -1)


class Flatten(theirs.Flatten):  # type: ignore[misc]
    """All axes but the first in one; there they may be one or none, too."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.input_spec = theirs.InputSpec(min_ndim=1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(samples, the product of the other sizes)."""
        if len(input_shape) > 2:
            return super().compute_output_shape(input_shape)
        return (*input_shape, 1)[:2]

    def call(self, inputs: Any) -> Any:
        """The flat inputs."""
        if K.ndim(inputs) > 2:
            return super().call(inputs)
        return K.expand_dims(inputs, -1) if K.ndim(inputs) == 1 else K.identity(inputs)


class Rescaling(Layer):  # type: ignore[misc]
    """`x * scale + offset`."""

    def __init__(self, scale: float, offset: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        """The scaled inputs."""
        return K.cast(inputs, K.floatx()) * self.scale + self.offset

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a layer again."""
        return {**super().get_config(), "scale": self.scale, "offset": self.offset}


NAMES: dict[str, Any] = {
    "Input": Input,
    "layers.Input": Input,
    "layers.BatchNormalization": BatchNormalization,
    "layers.experimental.SyncBatchNormalization": BatchNormalization,
    "layers.experimental.preprocessing.Rescaling": Rescaling,
    "layers.LayerNormalization": LayerNormalization,
    "layers.Attention": Attention,
    "layers.AdditiveAttention": AdditiveAttention,
    "layers.Flatten": Flatten,
    "layers.Wrapper": theirs.wrappers.Wrapper,
}
