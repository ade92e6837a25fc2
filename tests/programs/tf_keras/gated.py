"""Tensors among a layer's further arguments, in dicts, and in calls of models inside of models."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras
from tensorflow.keras import layers


class Gate(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight('scale', shape=(input_shape[-1],), initializer='ones')

    def call(self, x, gate=None, factor=1.0, training=None):
        return x * self.scale * factor * (1.0 if gate is None else gate)


class Mixed(layers.Layer):
    def call(self, inputs):
        return {'sum': inputs['a'] + 2.0 * inputs['b'], 'difference': inputs['a'] - inputs['b']}


class Encoder(keras.Model):
    def __init__(self):
        super(Encoder, self).__init__()
        self.inner = layers.Dense(3)
        self.drop = layers.Dropout(0.5)

    def call(self, x, extra=None, training=False):
        found = self.inner(x)
        if extra is not None:
            found = found + extra
        return self.drop(found, training=training)


class FromDict(keras.Model):
    def __init__(self):
        super(FromDict, self).__init__()
        self.first, self.last = layers.Dense(3), layers.Dense(2)

    def call(self, inputs):
        return self.last(self.first(inputs['x']) + inputs['y'])


def main():
    rng = np.random.RandomState(3)
    x, y = rng.randn(24, 5).astype('float32'), rng.randn(24, 2).astype('float32')

    a, b = keras.Input((5,), name='a'), keras.Input((3,), name='b')
    gate = layers.Dense(5, activation='sigmoid')(b)
    mixed = Mixed()({'a': Gate()(a, gate, factor=2.0), 'b': Gate()(a, gate=gate)})
    encoded = Encoder()(mixed['sum'], b)
    outputs = layers.Dense(2)(layers.concatenate([encoded, mixed['difference']]))
    model = keras.Model({'a': a, 'b': b}, outputs)
    draw(model)
    c, d = keras.Input((5,)), keras.Input((3,))
    outer = keras.Model([c, d], model([c, d]))
    model.compile(keras.optimizers.SGD(0.1), 'mse')
    history = model.fit({'a': x, 'b': x[:, :3]}, y, epochs=2, batch_size=8, shuffle=False, verbose=0)

    words = keras.Input((4,))
    embedded = layers.Embedding(10, 3)(words)
    known = layers.Lambda(lambda ids: tf.not_equal(ids, 0))(words)
    masked = keras.Model(words, layers.LSTM(3)(embedded, mask=known))
    draw(masked)

    written = FromDict()
    written.compile('sgd', 'mse')
    data = {'y': x[:, :3], 'x': x}
    written.fit(data, y, epochs=1, verbose=0)
    draw(written)
    return {
        'loss': history.history['loss'],
        'weights': len(model.trainable_weights),
        'predicted': model.predict({'b': x[:3, :3], 'a': x[:3]}),
        'outer': outer.predict([x[:3], x[:3, :3]]),
        'masked': masked.predict(np.array([[1, 2, 0, 3], [4, 0, 0, 0]])),
        'written': written.fit(data, y, shuffle=False, verbose=0).history['loss'],
        'evaluated': written.evaluate(data, y, verbose=0),
        'read': written.predict({'x': x[:2], 'y': x[:2, :3]}),
    }
