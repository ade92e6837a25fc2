import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import activations, backend as K
from keras.layers import Activation, Conv2D, Dense, Flatten, MaxPooling2D
from keras.models import Sequential
from numpy.testing import assert_allclose

from explaining.utils import apply_modifications, find_layer_idx, op_types, tensor_of
from explaining.visualization import visualize_activation, visualize_cam, visualize_saliency


@pytest.fixture
def model():
    draw = np.random.RandomState(0)
    made = Sequential([
        Conv2D(4, 3, activation='relu', input_shape=(10, 10, 1), name='conv'),
        MaxPooling2D(name='pool'), Flatten(name='flat'),
        Dense(8, activation='relu', name='hidden'),
        Dense(3, activation='softmax', name='preds')])
    made.set_weights([draw.normal(0, .4, w.shape) for w in made.get_weights()])
    return made


@pytest.fixture
def image():
    return np.random.RandomState(1).rand(1, 10, 10, 1)


def slopes(model, image, gate):
    """The gradient of class 1's score in NumPy, but for the convolution, which is linear here."""
    k, kb, w, b, w2, b2 = model.get_weights()
    x = image[0, :, :, 0]
    patches = np.array([[x[i:i + 3, j:j + 3] for j in range(8)] for i in range(8)])
    pre = np.einsum('ijab,abc->ijc', patches, k[:, :, 0]) + kb
    act = np.maximum(pre, 0)
    blocks = act.reshape(4, 2, 4, 2, 4)
    pooled = blocks.max((1, 3))
    hidden = np.maximum(pooled.ravel().dot(w) + b, 0)
    g = gate(w2[:, 1], hidden).dot(w.T).reshape(4, 4, 4)
    spread = (blocks == pooled[:, None, :, None]) * g[:, None, :, None]
    g = gate(spread.reshape(8, 8, 4), act)
    out = np.zeros((10, 10))
    for i in range(8):
        for j in range(8):
            out[i:i + 3, j:j + 3] += np.einsum('abc,c->ab', k[:, :, 0], g[i, j])
    out = np.abs(out)
    return (out - out.min()) / (out.max() - out.min() + 1e-7)


GATES = {None: lambda g, y: g * (y > 0), 'guided': lambda g, y: g * (y > 0) * (g > 0),
         'rectified': lambda g, y: g * (g > 0)}


def linear(model):
    model.layers[find_layer_idx(model, 'preds')].activation = activations.linear
    return apply_modifications(model)


def test_modified_activation(model, image):
    before = model.predict(image)
    after = linear(model).predict(image)
    e = np.exp(after - after.max())
    assert_allclose(e / e.sum(), before, rtol=1e-4)


@pytest.mark.parametrize('modifier', [None, 'guided', 'rectified'])
def test_saliency(model, image, modifier):
    found = visualize_saliency(linear(model), -1, 1, image, modifier)
    assert_allclose(found, slopes(model, image, GATES[modifier]), atol=1e-5)


def test_unknown_modifier(model, image):
    with pytest.raises(ValueError):
        visualize_saliency(model, -1, 1, image, 'nothing')


def test_cam(model, image):
    heatmap = visualize_cam(linear(model), -1, 1, image)
    assert heatmap.shape == (10, 10) and heatmap.min() >= 0


def test_activation_maximization(model, image):
    found, history = visualize_activation(linear(model), -1, 2, image)
    assert found.shape == (10, 10, 1)
    assert history[-1] < history[0]


def test_graph(model, image):
    graph = tf.get_default_graph()
    output = model.get_layer('hidden').output
    assert tensor_of(output.name) is output
    assert tensor_of(model.input.op.name) is model.input
    assert graph.get_operation_by_name(output.op.name).outputs[0] is output
    kinds = op_types(model.output)
    assert {'Placeholder', 'Conv2D', 'Relu', 'MaxPool', 'MatMul', 'Softmax'} <= set(kinds)
    names = [op.name for op in graph.get_operations() if op.type == 'Placeholder']
    assert model.input.op.name in names
    sess = K.get_session()
    found = sess.run(output.name, feed_dict={model.input.name: image})
    assert_allclose(found, K.function([model.input], [output])([image])[0], rtol=1e-6)
    assert [n.name for n in graph.as_graph_def().node if n.op == 'Placeholder'][0] == names[0]


def test_layers_by_op(model):
    relus = [layer.name for layer in model.layers if layer.output.op.type == 'Relu']
    assert relus == ['conv', 'hidden']
    assert model.output.op.inputs[0].op.type in ('BiasAdd', 'Add', 'AddV2')
    assert [x.op.type for x in [model.get_layer('pool').output]] == ['MaxPool']
