"""Explaining a classifier: relevance by its layers, guided gradients and class activation maps."""
import json

import keras
import keras.backend as K
import numpy as np
import tensorflow as tf
from keras.layers import AveragePooling2D, Conv2D, Dense, Flatten, MaxPooling2D
from keras.models import Sequential
from tensorflow.python.framework import ops


def network():
    model = Sequential([
        Conv2D(4, 3, activation='relu', input_shape=(10, 10, 2), name='block1_conv1'),
        MaxPooling2D(name='block1_pool'),
        Conv2D(6, 3, activation='relu', name='block2_conv1'),
        AveragePooling2D(name='block2_pool'),
        Flatten(name='flatten'),
        Dense(3, activation='softmax', name='predictions')])
    draw = np.random.RandomState(4)
    model.set_weights([draw.normal(0, .4, w.shape) for w in model.get_weights()])
    return model


# Relevance: each layer hands what its outputs are worth to its inputs ------------------------

def without_softmax(model):
    config = model.layers[-1].get_config()
    config['activation'] = 'linear'
    config['name'] = 'predictions_linear'
    last = keras.layers.Dense.from_config(config)
    out = last(model.layers[-2].output)
    last.set_weights(model.layers[-1].get_weights())
    return keras.models.Model(model.input, out)


def copy_without_activation(layer, positive=None):
    config = layer.get_config()
    config['name'] = config['name'] + '_copied'
    config['activation'] = 'linear'
    made = layer.__class__.from_config(config)
    made.build(layer.get_input_shape_at(0))
    weights = layer.get_weights()
    if positive is not None:
        weights = [w * ((w > 0) if positive else (w < 0)) for w in weights]
    made.set_weights(weights)
    return made


class EpsilonRule(object):
    def __init__(self, layer, epsilon=1e-2):
        self._layer, self._epsilon = copy_without_activation(layer), epsilon

    def apply(self, X, R):
        Z = self._layer(X)
        signs = K.cast(K.greater_equal(Z, 0), K.floatx()) * 2 - 1
        weighted = R / (Z + signs * self._epsilon)
        return X * tf.gradients(Z, [X], grad_ys=[weighted])[0]


class AlphaBetaRule(object):
    def __init__(self, layer, alpha=2, beta=1):
        self._positive = copy_without_activation(layer, True)
        self._negative = copy_without_activation(layer, False)
        self._alpha, self._beta = alpha, beta

    def apply(self, X, R):
        def part(layer):
            Z = layer(X)
            safe = Z + K.cast(K.equal(Z, 0), K.floatx()) * K.epsilon()
            return X * tf.gradients(Z, X, grad_ys=R / safe)[0]
        return self._alpha * part(self._positive) - self._beta * part(self._negative)


def relevance(model, rule):
    R = K.max(model.output, axis=-1, keepdims=True) * K.one_hot(K.argmax(model.output), 3)
    for layer in reversed(model.layers):
        if isinstance(layer, keras.engine.input_layer.InputLayer):
            continue
        X = layer.get_input_at(0)
        if layer.get_weights():
            R = rule(layer).apply(X, R)
        else:
            R = tf.gradients(layer.get_output_at(0), X, grad_ys=R)[0]
    return K.function([model.input], [R])


# Guided gradients -----------------------------------------------------------------------------

def register_gradient():
    if 'GuidedBackProp' not in ops._gradient_registry._registry:
        @ops.RegisterGradient('GuidedBackProp')
        def _guided(op, grad):
            dtype = op.inputs[0].dtype
            return grad * tf.cast(grad > 0., dtype) * tf.cast(op.inputs[0] > 0., dtype)


def guided(weights):
    g = tf.get_default_graph()
    with g.gradient_override_map({'Relu': 'GuidedBackProp'}):
        for layer in [layer for layer in network().layers[1:] if hasattr(layer, 'activation')]:
            if layer.activation == keras.activations.relu:
                layer.activation = tf.nn.relu
        made = network()
    made.set_weights(weights)
    return made


def saliency(model, name):
    layer_output = model.get_layer(name).output
    max_output = K.max(layer_output, axis=3)
    grads = K.gradients(K.sum(max_output), model.input)[0]
    return K.function([model.input, K.learning_phase()], [grads])


def grad_cam(model, image, class_index, layer_name):
    loss = tf.reduce_sum(model.output * tf.one_hot([class_index], 3), axis=-1)
    conv = model.get_layer(layer_name).output
    grads = K.gradients(loss, conv)[0]
    grads = grads / (tf.sqrt(tf.reduce_mean(tf.square(grads))) + tf.constant(1e-5))
    output, found = K.function([model.input], [conv, grads])([image])
    weights = np.mean(found[0], axis=(0, 1))
    cam = np.maximum(np.dot(output[0], weights), 0)
    return cam / (np.max(cam) + 1e-10)


def main():
    model = network()
    weights = model.get_weights()
    x = np.random.RandomState(5).normal(size=(2, 10, 10, 2)).astype('float32')
    linear = without_softmax(model)
    result = {
        'epsilon': relevance(linear, EpsilonRule)([x])[0],
        'alpha_beta': relevance(linear, AlphaBetaRule)([x])[0],
        'cam': grad_cam(model, x[:1], 1, 'block2_conv1'),
        'plain': saliency(model, 'block2_conv1')([x, 0])[0],
    }
    register_gradient()
    result['guided'] = saliency(guided(weights), 'block2_conv1')([x, 0])[0]
    return result


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
