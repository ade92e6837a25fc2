"""Gated, dilated causal convolutions over quantised sound, trained and sampled."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import layers, metrics, objectives
from keras.layers import Activation, Conv1D, Input, Lambda
from keras.models import Model
from keras.optimizers import SGD

BINS, FILTERS, DEPTH, STACKS, LENGTH = 16, 5, 3, 2, 24


def mu_law(x, mu=BINS - 1):
    y = np.sign(x) * np.log1p(mu * np.abs(x)) / np.log1p(mu)
    return np.clip(((y + 1) / 2 * mu + .5).astype(int), 0, mu)


class CausalConv1D(Conv1D):
    """Pads at the left alone, by TensorFlow's own padding."""

    def __init__(self, filters, kernel_size, dilation=1, **kwargs):
        super(CausalConv1D, self).__init__(filters, kernel_size, dilation_rate=dilation, **kwargs)

    def call(self, inputs):
        left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        padded = tf.pad(inputs, [[0, 0], [left, 0], [0, 0]])
        outputs = tf.nn.convolution(padded, self.kernel, 'VALID', dilation_rate=self.dilation_rate)
        return tf.nn.bias_add(outputs, self.bias)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (self.filters,)


def time_to_batch(x, dilation):
    shape = tf.shape(x)
    pad = dilation - 1 - (shape[1] + dilation - 1) % dilation
    padded = tf.pad(x, [[0, 0], [0, pad], [0, 0]])
    split = tf.reshape(padded, [-1, dilation, shape[2]])
    transposed = tf.transpose(split, perm=[1, 0, 2])
    return tf.reshape(transposed, [shape[0] * dilation, -1, shape[2]])


def batch_to_time(x, dilation, length):
    shape = tf.shape(x)
    split = tf.reshape(x, [dilation, -1, shape[2]])
    restored = tf.reshape(tf.transpose(split, perm=[1, 0, 2]),
                          [tf.div(shape[0], dilation), -1, shape[2]])
    return tf.slice(restored, [0, 0, 0], [-1, length, -1])


def by_batches(value, filters, dilation):
    """A dilated convolution as one without dilation on a rearranged batch."""
    width = int(filters.get_shape()[0])
    padded = tf.pad(value, [[0, 0], [(width - 1) * dilation, 0], [0, 0]])
    moved = time_to_batch(padded, dilation)
    out = tf.nn.conv1d(moved, filters, stride=1, padding='VALID')
    return batch_to_time(out, dilation, tf.shape(value)[1])


def gated_block(x, i, s):
    tanh = CausalConv1D(FILTERS, 2, dilation=2 ** i, name='dilated_%d_tanh_s%d' % (2 ** i, s))(x)
    gate = CausalConv1D(FILTERS, 2, dilation=2 ** i, name='dilated_%d_sigm_s%d' % (2 ** i, s))(x)
    out = layers.Multiply(name='gated_%d_s%d' % (i, s))(
        [Activation('tanh')(tanh), Activation('sigmoid')(gate)])
    residual = Conv1D(FILTERS, 1, padding='same')(out)
    skip = Conv1D(FILTERS, 1, padding='same')(out)
    return layers.Add()([x, residual]), skip


def build():
    inputs = Input(shape=(None, BINS), name='input_part')
    out, skips = CausalConv1D(FILTERS, 2, name='initial_causal_conv')(inputs), []
    for s in range(STACKS):
        for i in range(DEPTH):
            out, skip = gated_block(out, i, s)
            skips.append(skip)
    out = layers.Add()(skips)
    for filters in (FILTERS, BINS):
        out = Activation('relu')(out)
        out = Conv1D(filters, 1, padding='same')(out)
    return Model(inputs, Activation('softmax', name='output_softmax')(out))


def skip_out_of_receptive_field(func):
    field = STACKS * (2 ** DEPTH) - (STACKS - 1)

    def wrapper(y_true, y_pred):
        return func(y_true[:, field - 8:, :], y_pred[:, field - 8:, :])
    wrapper.__name__ = func.__name__
    return wrapper


def main():
    draw = np.random.RandomState(12)
    model = build()
    model.set_weights([draw.normal(0, .35, w.shape) for w in model.get_weights()])
    t = np.arange(LENGTH * 6 + 1)
    wave = mu_law(.7 * np.sin(t / 3.) + .2 * np.sin(t / 1.3))
    onehot = np.eye(BINS)[wave]
    x = onehot[:-1].reshape(6, LENGTH, BINS)
    y = onehot[1:].reshape(6, LENGTH, BINS)
    loss = skip_out_of_receptive_field(objectives.categorical_crossentropy)
    accuracy = skip_out_of_receptive_field(metrics.categorical_accuracy)
    model.compile(SGD(.05, momentum=.9, nesterov=True, clipvalue=.5), loss, metrics=[accuracy])
    history = model.fit(x, y, batch_size=3, epochs=3, shuffle=False, verbose=0).history

    sample = list(wave[:LENGTH])
    for _ in range(8):
        p = model.predict(np.eye(BINS)[sample[-LENGTH:]][np.newaxis])[0, -1]
        sample.append(int(np.argmax(p)))

    value = tf.placeholder(tf.float32, [None, None, 2])
    filters = tf.constant(draw.normal(size=(2, 2, 3)), tf.float32)
    both = [by_batches(value, filters, 4), tf.nn.convolution(
        tf.pad(value, [[0, 0], [4, 0], [0, 0]]), filters, 'VALID', dilation_rate=[4])]
    grads = tf.gradients(both[0] ** 2, value)
    with tf.Session() as sess:
        a, b, g = sess.run(both + grads, {value: draw.normal(size=(2, 10, 2))})
    return {'loss': history['loss'], 'accuracy': history['categorical_accuracy'],
            'sample': sample, 'last': p, 'by_batches': a, 'dilated': b, 'slopes': g}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
