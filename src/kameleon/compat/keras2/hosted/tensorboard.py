"""The callback that writes what TensorBoard shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from keras import backend as K
from keras.callbacks.callbacks import Callback
from keras.engine.training_utils import standardize_input_data

from kameleon._utils import events

SHOWN = 3  # as many images of a weight are shown


class TensorBoard(Callback):  # type: ignore[misc]
    """Writes losses and metrics, histograms and the graph of layers, to be shown by TensorBoard.

    The arguments are the original's. Histograms need validation data; the graph has a node for
    each layer, not for each operation.

    Args:
        log_dir: a folder, for `tensorboard --logdir`.
        histogram_freq: after how many epochs weights and outputs of layers are written, if ever.
        batch_size: of the validation data, for outputs and gradients.
        write_graph: whether the layers are written, and how they are connected.
        write_grads: whether gradients of weights are written with the histograms.
        write_images: whether weights are written as images with the histograms.
        embeddings_freq: after how many epochs outputs of layers are written for the projector.
        embeddings_layer_names: which layers; all of the class Embedding, if None.
        embeddings_metadata: a file for all of these layers, or by layer.
        embeddings_data: inputs of the model for these outputs.
        update_freq: losses and metrics are written per 'epoch', per 'batch', or after so many
            samples.
        profile_batch: of TensorFlow's own Keras; nothing is profiled.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int | None = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        profile_batch: Any = 0,
    ) -> None:
        super().__init__()
        events.messages()  # an error where TensorBoard isn't installed
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size or 32
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata or {}
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.samples_seen = 0
        self.samples_seen_at_last_write = 0

    # --- when it's called ---------------------------------------------------------------------

    def set_model(self, model: Any) -> None:
        """Begin a file; what is computed for histograms and embeddings is made ready."""
        self.model = model
        self.writer = events.EventFile(self.log_dir)
        if self.write_graph:
            self.writer.write_graph(events.graph(graph_of(model)))
        if self.histogram_freq:
            self._outputs = dict(_outputs(model))
            self._gradients = dict(_gradients(model)) if self.write_grads else {}
            tensors = [*self._outputs.values(), *self._gradients.values()]
            self._compute = K.function(_fed(model), tensors)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._begin_embeddings()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write what belongs to the end of an epoch."""
        if not self.validation_data and self.histogram_freq:
            raise ValueError(
                "TensorBoard: histograms (histogram_freq) need validation_data, as arrays and not"
                " as a generator"
            )
        if self.embeddings_data is None and self.embeddings_freq:
            raise ValueError("TensorBoard: embeddings_freq needs embeddings_data")
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_histograms(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._write_embeddings()
        self._write_logs(logs or {}, epoch if self.update_freq == "epoch" else self.samples_seen)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Write losses and metrics, once `update_freq` samples have been seen."""
        if self.update_freq == "epoch":
            return
        self.samples_seen += (logs or {})["size"]
        if self.samples_seen - self.samples_seen_at_last_write >= self.update_freq:
            self._write_logs(logs, self.samples_seen)
            self.samples_seen_at_last_write = self.samples_seen

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        self.writer.close()

    # --- what is written ------------------------------------------------------------------------

    def _write_logs(self, logs: Mapping[str, Any], step: int) -> None:
        numbers = {k: v for k, v in logs.items() if k not in ("batch", "size")}
        self.writer.write_scalars({k: np.asarray(v).item() for k, v in numbers.items()}, step)
        self.writer.flush()

    def _write_histograms(self, epoch: int) -> None:
        weights = [w for layer in self.model.layers for w in layer.weights]
        for weight, value in zip(weights, K.batch_get_value(weights), strict=True):
            values = [events.histogram(_tag(weight), value)]
            if self.write_images:
                values += images(_tag(weight), value)
            self.writer.write(values, epoch)
        names = [*self._outputs, *self._gradients]
        for batch in self._batches():
            pairs = zip(names, self._compute(batch), strict=True)
            self.writer.write([events.histogram(name, value) for name, value in pairs], epoch)

    def _batches(self) -> Iterator[list[Any]]:
        """The validation data in batches; the learning phase, which comes last, is a number."""
        data = list(self.validation_data)
        for start in range(0, len(data[0]), self.batch_size):
            part = slice(start, start + self.batch_size)
            yield [x[part] if isinstance(x, np.ndarray) and x.ndim else x for x in data]

    # --- embeddings, as tables that the projector reads -------------------------------------------

    def _begin_embeddings(self) -> None:
        model = self.model
        self._inputs = standardize_input_data(self.embeddings_data, model.input_names)
        names = self.embeddings_layer_names or [
            layer.name for layer in model.layers if type(layer).__name__ == "Embedding"
        ]
        layers = [layer for layer in model.layers if layer.name in names]
        self._embedded = {layer.name: layer.output for layer in layers}
        self._embed = K.function([*model.inputs, K.learning_phase()], list(self._embedded.values()))
        common = self.embeddings_metadata
        files = dict.fromkeys(self._embedded, common) if isinstance(common, str) else common
        text = "".join(_projected(name, files.get(name)) for name in self._embedded)
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as file:
            file.write(text)

    def _write_embeddings(self) -> None:
        parts = []
        for start in range(0, len(self._inputs[0]), self.batch_size):
            part = slice(start, start + self.batch_size)
            parts.append(self._embed([*(x[part] for x in self._inputs), 0]))
        for name, rows in zip(self._embedded, zip(*parts, strict=True), strict=True):
            table = np.concatenate(rows).reshape(len(self._inputs[0]), -1)
            np.savetxt(os.path.join(self.log_dir, _table_of(name)), table, "%.7g", "\t")


def _table_of(name: str) -> str:
    return f"{name.replace('/', '_')}_embedding.tsv"


def _projected(name: str, metadata: str | None) -> str:
    """A layer's entry in the projector's configuration."""
    lines = [f'  tensor_name: "{name}_embedding"', f'  tensor_path: "{_table_of(name)}"']
    lines += [f'  metadata_path: "{metadata}"'] if metadata else []
    return "embeddings {\n" + "\n".join(lines) + "\n}\n"


def _tag(weight: Any) -> str:
    return str(weight.name.replace(":", "_"))


def _outputs(model: Any) -> Iterator[tuple[str, Any]]:
    """The outputs of the layers, by the names of their histograms."""
    for layer in model.layers:
        output = getattr(layer, "output", None)  # a layer that is called twice has no single one
        if isinstance(output, list):
            yield from ((f"{layer.name}_out_{i}", each) for i, each in enumerate(output))
        elif output is not None:
            yield f"{layer.name}_out", output


def _gradients(model: Any) -> Iterator[tuple[str, Any]]:
    """The gradients of the loss with respect to the weights that learn, by their names."""
    weights = model.trainable_weights
    gradients = model.optimizer.get_gradients(model.total_loss, weights)
    return zip((f"{_tag(w)}_grad" for w in weights), gradients, strict=True)


def _fed(model: Any) -> list[Any]:
    """The tensors that validation data are fed to."""
    tensors = model.inputs + model.targets + model.sample_weights
    return list(tensors) + [K.learning_phase()] * bool(model.uses_learning_phase)


def graph_of(model: Any) -> Iterator[events.GraphNode]:
    """A node for each layer of a model."""
    for layer in model.layers:
        nodes = getattr(layer, "_inbound_nodes", [])
        before = {each.name: None for node in nodes for each in node.inbound_layers}
        yield events.GraphNode(layer.name, type(layer).__name__, [n for n in before if n])


def images(tag: str, weight: np.ndarray[Any, Any]) -> list[bytes]:
    """A weight as images: a matrix as one, a row of matrices as one each; else none."""
    matrix = np.squeeze(weight)
    if matrix.ndim == 3 and K.image_data_format() == "channels_last":
        matrix = matrix.transpose(2, 0, 1)
    if matrix.ndim == 2 and matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    shape = {1: (1, -1, 1), 2: (1, *matrix.shape), 3: matrix.shape}.get(matrix.ndim)
    if shape is None or not matrix.size:
        return []
    rows = matrix.reshape(shape)[:SHOWN]
    return [events.image(f"{tag}/image/{i}", pixels(row)[..., None]) for i, row in enumerate(rows)]


def pixels(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers as grey values: zero is black, or the middle where some numbers are negative."""
    largest = np.abs(matrix).max()
    scaled = matrix / largest if largest else matrix
    grey = 127.5 + 127.5 * scaled if matrix.min() < 0 else 255 * scaled
    return np.asarray(grey).astype(np.uint8)
