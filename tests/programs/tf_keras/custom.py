"""A layer, a loss, a metric and a learning rate of one's own; the model saved and loaded."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras
from tensorflow.keras import layers


class Gated(layers.Layer):
    def __init__(self, units=8, activation=None, **kwargs):
        super(Gated, self).__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)
        self.projection = layers.Dense(units)

    def build(self, input_shape):
        shape = tf.TensorShape((input_shape[-1], self.units))
        self.kernel = self.add_weight(name='kernel', shape=shape, initializer='uniform',
                                      regularizer=keras.regularizers.l2(0.01), trainable=True)
        self.bias = self.add_weight('bias', shape=[self.units], initializer='zeros')
        self.steps = self.add_weight(name='steps', shape=(), initializer='zeros', trainable=False)
        super(Gated, self).build(input_shape)

    def call(self, inputs):
        gate = tf.sigmoid(tf.matmul(inputs, self.kernel) + self.bias)
        self.add_loss(0.001 * tf.reduce_sum(tf.square(gate)))
        return self.activation(gate * self.projection(inputs))

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape).as_list()
        shape[-1] = self.units
        return tf.TensorShape(shape)

    def get_config(self):
        config = super(Gated, self).get_config()
        config.update({'units': self.units,
                       'activation': keras.activations.serialize(self.activation)})
        return config


class Focal(keras.losses.Loss):
    def __init__(self, gamma=2.0, **kwargs):
        super(Focal, self).__init__(**kwargs)
        self.gamma = gamma

    def call(self, y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        y_pred = tf.clip_by_value(y_pred, 1e-6, 1.0 - 1e-6)
        likely = tf.where(tf.equal(y_true, 1.0), y_pred, 1.0 - y_pred)
        return -tf.reduce_mean(tf.pow(1.0 - likely, self.gamma) * tf.math.log(likely), axis=-1)


class TruePositives(keras.metrics.Metric):
    def __init__(self, name='hits', **kwargs):
        super(TruePositives, self).__init__(name=name, **kwargs)
        self.hits = self.add_weight(name='hits', initializer='zeros')

    def update_state(self, y_true, y_pred, sample_weight=None):
        right = tf.logical_and(tf.greater(y_true, 0.5), tf.greater(y_pred, 0.5))
        right = tf.cast(right, self.dtype)
        if sample_weight is not None:
            right = tf.multiply(right, tf.cast(sample_weight, self.dtype))
        self.hits.assign_add(tf.reduce_sum(right))

    def result(self):
        return self.hits

    def reset_states(self):
        self.hits.assign(0.)


def main():
    rng = np.random.RandomState(5)
    x = rng.randn(60, 6).astype('float32')
    y = (x[:, :1] * x[:, 1:2] > 0).astype('float32')

    inputs = keras.Input(shape=(6,))
    hidden = Gated(10, activation='tanh', name='gated')(inputs)
    outputs = layers.Dense(1, activation='sigmoid')(hidden)
    model = keras.Model(inputs=inputs, outputs=outputs, name='gates')
    draw(model)
    rate = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=5, decay_rate=0.5)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=rate), loss=Focal(gamma=1.5),
                  metrics=[TruePositives(), 'binary_accuracy'])
    history = model.fit(x, y, batch_size=12, epochs=4, verbose=0, shuffle=False)
    path = os.path.join(tempfile.mkdtemp(), 'model.h5')
    model.save(path)
    loaded = keras.models.load_model(path, custom_objects={'Gated': Gated}, compile=False)
    return {
        'loss': history.history['loss'],
        'hits': history.history['hits'],
        'accuracy': history.history['binary_accuracy'],
        'evaluated': model.evaluate(x, y, verbose=0),
        'predicted': model.predict(x[:4]),
        'loaded': loaded.predict(x[:4]),
        'counts': [len(model.trainable_variables), len(model.non_trainable_variables),
                   len(model.losses), model.count_params()],
    }
