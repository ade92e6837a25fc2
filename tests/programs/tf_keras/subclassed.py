"""A model of one's own with residual blocks in a list, asking for the phase; AdamW by subclassing."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras


class Block(keras.layers.Layer):
    def __init__(self, filters):
        super(Block, self).__init__()
        self.conv = keras.layers.Conv2D(filters, 3, padding='same', use_bias=False)
        self.norm = keras.layers.BatchNormalization()

    def call(self, inputs, training=None):
        x = self.norm(self.conv(inputs), training=training)
        return tf.nn.relu(x) + inputs


class Net(keras.Model):
    def __init__(self, classes, blocks=2):
        super(Net, self).__init__(name='net')
        self.stem = keras.layers.Conv2D(4, 3, strides=2, activation='elu')
        self.blocks = []
        for _ in range(blocks):
            self.blocks.append(Block(4))
        self.pool = keras.layers.GlobalAveragePooling2D()
        self.head = keras.layers.Dense(classes)
        self.temperature = tf.Variable(1.5, trainable=False, name='temperature')

    @tf.function
    def scale(self, x):
        return x / (1.0 + self.temperature)

    def call(self, inputs, training=False):
        x = self.stem(inputs)
        for block in self.blocks:
            x = block(x, training=training)
        x = self.pool(x)
        return tf.nn.softmax(self.scale(self.head(x)))


class Multiplied(keras.constraints.Constraint):
    def __call__(self, w):
        return w * 0.999


def main():
    rng = np.random.RandomState(11)
    x = rng.rand(40, 9, 9, 3).astype('float32')
    y = (x[:, :4].mean((1, 2, 3)) > x[:, 5:].mean((1, 2, 3))).astype('int64')
    model = Net(2)
    model.build(input_shape=(None, 9, 9, 3))
    draw(model, size=0.3)
    model.compile(optimizer=keras.optimizers.SGD(lr=0.1, momentum=0.9, nesterov=True, clipnorm=0.5),
                  loss='sparse_categorical_crossentropy', metrics=['accuracy'])
    history = model.fit(x, y, batch_size=10, epochs=3, shuffle=False, verbose=0)
    path = os.path.join(tempfile.mkdtemp(), 'weights.h5')
    before = model.predict(x[:3])
    model.save_weights(path)
    model.set_weights([w * 0 for w in model.get_weights()])
    model.load_weights(path)
    return {
        'loss': history.history['loss'],
        'accuracy': history.history['acc'],
        'evaluated': model.evaluate(x, y, verbose=0),
        'before': before,
        'after': model.predict(x[:3]),
        'counts': [len(model.weights), len(model.trainable_variables), len(model.layers)],
    }
