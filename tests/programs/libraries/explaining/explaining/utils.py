import os
import tempfile

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import advanced_activations
from keras.models import load_model

ADVANCED_ACTIVATIONS = {advanced_activations.LeakyReLU, advanced_activations.PReLU}


def apply_modifications(model, custom_objects=None):
    """Attributes of layers that were changed become part of the graph: by saving and loading."""
    model_path = os.path.join(tempfile.gettempdir(), next(tempfile._get_candidate_names()) + '.h5')
    try:
        model.save(model_path)
        return load_model(model_path, custom_objects=custom_objects)
    finally:
        os.remove(model_path)


def find_layer_idx(model, layer_name):
    for idx, layer in enumerate(model.layers):
        if layer.name == layer_name:
            return idx
    raise ValueError("No layer with name '{}' within the model".format(layer_name))


def get_img_shape(img):
    return K.int_shape(img) if not isinstance(img, np.ndarray) else img.shape


def tensor_of(name):
    """The tensor of a name in the session's graph."""
    graph = K.get_session().graph
    assert graph is tf.get_default_graph()
    return graph.get_tensor_by_name(name if ':' in name else name + ':0')


def op_types(tensor):
    """The types of the operations that lead to a tensor."""
    seen, stack = [], [tensor.op]
    while stack:
        op = stack.pop()
        if op not in seen:
            seen.append(op)
            stack.extend(x.op for x in op.inputs)
    return sorted(set(op.type for op in seen))
