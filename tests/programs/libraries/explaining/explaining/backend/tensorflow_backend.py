from __future__ import absolute_import

import os
import tempfile

import keras
import tensorflow as tf
from keras.layers import advanced_activations, Activation
from keras.models import load_model
from tensorflow.python.framework import ops

from ..utils import ADVANCED_ACTIVATIONS, apply_modifications

_MODIFIED_MODEL_CACHE = dict()


def _register_guided_gradient(name):
    if name not in ops._gradient_registry._registry:
        @tf.RegisterGradient(name)
        def _guided_backprop(op, grad):
            dtype = op.outputs[0].dtype
            gate_g = tf.cast(grad > 0., dtype)
            gate_y = tf.cast(op.outputs[0] > 0, dtype)
            return gate_y * gate_g * grad


def _register_rectified_gradient(name):
    if name not in ops._gradient_registry._registry:
        @tf.RegisterGradient(name)
        def _relu_backprop(op, grad):
            gate_g = tf.cast(grad > 0., op.outputs[0].dtype)
            return gate_g * grad


_BACKPROP_MODIFIERS = {'guided': _register_guided_gradient, 'rectified': _register_rectified_gradient}


def modify_model_backprop(model, backprop_modifier):
    """A copy of the model whose rectifiers have another gradient."""
    modified_model = _MODIFIED_MODEL_CACHE.get((model, backprop_modifier))
    if modified_model is not None:
        return modified_model
    model_path = os.path.join(tempfile.gettempdir(), next(tempfile._get_candidate_names()) + '.h5')
    try:
        model.save(model_path)
        modifier_fn = _BACKPROP_MODIFIERS.get(backprop_modifier)
        if modifier_fn is None:
            raise ValueError("'{}' modifier is not supported".format(backprop_modifier))
        modifier_fn(backprop_modifier)
        with tf.get_default_graph().gradient_override_map({'Relu': backprop_modifier}):
            modified_model = load_model(model_path)
            for layer in modified_model.layers:
                if getattr(layer, 'activation', None) == keras.activations.relu:
                    layer.activation = tf.nn.relu
            modified_model = apply_modifications(modified_model)
            _MODIFIED_MODEL_CACHE[(model, backprop_modifier)] = modified_model
            return modified_model
    finally:
        os.remove(model_path)
