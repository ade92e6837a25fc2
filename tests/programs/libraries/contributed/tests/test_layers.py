import numpy as np
import pytest
import tensorflow as tf
from keras import backend as K
from keras.layers import Input
from keras.models import Model, Sequential
from keras.utils import CustomObjectScope
from keras.utils.test_utils import layer_test
from numpy.testing import assert_allclose

from contributed import backend as KC
from contributed.layers import CosineDense, InstanceNormalization, SubPixelUpscaling, Swish


def test_cosinedense():
    with CustomObjectScope({'CosineDense': CosineDense}):
        layer_test(CosineDense, kwargs={'units': 3}, input_shape=(3, 2))
    X = np.random.RandomState(0).randn(4, 5)
    model = Sequential([CosineDense(1, use_bias=True, input_shape=(5,))])
    model.compile(loss='mse', optimizer='rmsprop')
    W = model.get_weights()
    W[0], W[1] = X[0][:, None], np.asarray([1.])
    model.set_weights(W)
    out = model.predict(X)
    assert_allclose(out[0, 0], 1., atol=1e-5)
    model = Sequential([CosineDense(1, use_bias=False, input_shape=(5,))])
    model.set_weights([-2 * X[0][:, None]])
    assert_allclose(model.predict(X)[0, 0], -1., atol=1e-5)


@pytest.mark.parametrize('axis', [None, 1, -1])
def test_instancenorm(axis):
    x = np.random.RandomState(1).normal(5., 10., (3, 6, 4, 2))
    layer = InstanceNormalization(axis=axis)
    inputs = Input(shape=(6, 4, 2))
    model = Model(inputs, layer(inputs))
    rest = tuple(i for i in (1, 2, 3) if axis is None or i != axis % 4)
    expected = (x - x.mean(rest, keepdims=True)) / (x.std(rest, keepdims=True) + 1e-3)
    assert_allclose(model.predict(x), expected, atol=1e-5)


def test_instancenorm_refuses():
    with pytest.raises(ValueError):
        InstanceNormalization(axis=0).build((None, 3, 4))


def test_swish():
    with CustomObjectScope({'Swish': Swish}):
        layer_test(Swish, kwargs={'trainable_beta': True}, input_shape=(2, 3, 4))


def test_subpixel():
    x = np.arange(16, dtype='float32').reshape(1, 2, 2, 4)
    inputs = Input((2, 2, 4))
    found = Model(inputs, SubPixelUpscaling(2)(inputs)).predict(x)
    assert found.shape == (1, 4, 4, 1)
    assert found[0, :, :, 0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13],
                                          [10, 11, 14, 15]]


def test_moments():
    x = np.random.RandomState(2).rand(3, 4).astype('float32')
    mean, variance = KC.moments(K.variable(x), [0], keep_dims=True)
    sess = K.get_session()
    with sess.as_default():
        assert_allclose(mean.eval(), x.mean(0, keepdims=True), rtol=1e-5)
        assert_allclose(sess.run(variance), x.var(0, keepdims=True), rtol=1e-5)
    assert mean.get_shape().as_list() == [1, 4] and mean.dtype == tf.float32
