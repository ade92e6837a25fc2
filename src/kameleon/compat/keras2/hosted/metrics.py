"""Metrics that the original computes by functions of TensorFlow, by those of K."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import backend as K
from keras.metrics import Metric
from keras.utils.metrics_utils import NEG_INF

from ....graph.primitives.indexing import top_k


def filter_top_k(x: Any, k: int) -> Any:
    """The `k` largest of each row; all others become so small that no threshold lets them pass.

    Of equal values, those that come first count as the larger ones.

    Args:
        x: tensor (…, classes).
        k: how many stay.
    """
    _, places = top_k(x, k)
    chosen = K.sum(K.one_hot(places, K.int_shape(x)[-1]), axis=-2)
    return x * chosen + NEG_INF * (1 - chosen)


class MeanIoU(Metric):  # type: ignore[misc]
    """The mean over classes of intersection over union, for the segmentation of images.

    A class's intersection over union is `true positives / (true positives + false positives +
    false negatives)`. Classes that occur neither in labels nor in predictions don't count.

    Args:
        num_classes: how many classes there are. Labels and predictions are their numbers; they are
            rounded towards zero.
        name: the metric's name.
        dtype: of the result.
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros"
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add labels (rows) and predictions (columns) to the confusion matrix.

        A class that isn't in [0, num_classes) is an error when the function runs.
        """
        labels, predictions = self._one_hot(y_true), self._one_hot(y_pred)
        if sample_weight is not None:
            weights = K.cast(sample_weight, K.floatx())
            labels *= K.reshape(weights * K.ones_like(K.cast(y_true, K.floatx())), (-1, 1))
        return [K.update_add(self.total_cm, K.dot(K.transpose(labels), predictions))]

    def _one_hot(self, classes: Any) -> Any:
        rows = K.constant(np.eye(self.num_classes))
        return K.gather(rows, K.cast(K.flatten(classes), "int32"))

    def result(self) -> Any:
        """The mean over the classes that occur; 0 where none does."""
        diagonal = K.sum(self.total_cm * K.constant(np.eye(self.num_classes)), axis=0)
        union = K.sum(self.total_cm, axis=0) + K.sum(self.total_cm, axis=1) - diagonal
        occurs = K.cast(K.not_equal(union, 0), K.floatx())
        ratios = diagonal / (union + (1 - occurs))  # a union that isn't 0 stays as it is
        return K.sum(ratios) / K.maximum(K.sum(occurs), 1)

    def reset_states(self) -> None:
        """Forget what has been counted."""
        K.set_value(self.total_cm, np.zeros((self.num_classes, self.num_classes)))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric again."""
        return {**super().get_config(), "num_classes": self.num_classes}
