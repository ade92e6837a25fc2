"""TensorFlow 2.0 to 2.3: functions between layers, a frozen normalization, a schedule."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras


class Scale(keras.layers.Layer):
    def __init__(self, start=0.1, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape):
        self.gain = self.add_weight(shape=(input_shape[-1],), name='gain',
                                    initializer=tf.constant_initializer(self.start))

    def call(self, inputs, training=None):
        if training:
            inputs = inputs + 0.05
        return inputs * self.gain


def main():
    rng = np.random.RandomState(13)
    x = rng.randn(40, 8, 8, 2).astype('float32')
    y = (x[:, ::2, ::2].mean((1, 2, 3)) + x.max((1, 2, 3)))[:, None]
    inputs = keras.Input(shape=(8, 8, 2))
    h = keras.layers.Conv2D(4, 3, padding='same', use_bias=False)(inputs)
    h = keras.layers.BatchNormalization(momentum=0.9)(h)
    h = tf.nn.relu(h)
    frozen = keras.layers.BatchNormalization(name='frozen')
    h = h + Scale()(frozen(h))
    frozen.trainable = False
    h = tf.concat([tf.reduce_mean(h, [1, 2]), tf.reduce_max(h, axis=[1, 2])], axis=-1)
    outputs = keras.layers.Dense(1)(h) * 2.0
    model = keras.Model(inputs, outputs)
    draw(model)
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([4, 8], [0.004, 0.002, 0.001])
    model.compile(keras.optimizers.SGD(rate, momentum=0.8, nesterov=True),
                  loss=keras.losses.Huber(0.5), metrics=[keras.metrics.RootMeanSquaredError()])
    history = model.fit(x, y, epochs=3, batch_size=10, shuffle=False, verbose=0)
    return {
        'loss': history.history['loss'],
        'error': history.history['root_mean_squared_error'],
        'moving': model.get_layer('frozen').get_weights()[2],
        'predicted': model.predict(x[:3]),
        'evaluated': model.evaluate(x, y, verbose=0),
    }
