"""A network of tf.keras.applications without its weights, frozen, then fine-tuned."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow.keras import applications, layers, models, optimizers


def main():
    rng = np.random.RandomState(2)
    x = applications.mobilenet.preprocess_input(rng.randint(0, 256, (12, 32, 32, 3)).astype('float32'))
    y = rng.randint(0, 2, 12)
    base = applications.MobileNet(input_shape=(32, 32, 3), alpha=0.25, include_top=False,
                                  weights=None)
    base.trainable = False
    model = models.Sequential([
        base,
        layers.GlobalAveragePooling2D(),
        layers.Dense(2, activation=tf.nn.softmax),
    ])
    draw(model, size=0.3)
    model.compile(optimizer=optimizers.RMSprop(lr=2e-2), loss='sparse_categorical_crossentropy',
                  metrics=['acc'])
    first = model.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    frozen = len(model.trainable_weights)
    for layer in base.layers[-6:]:
        layer.trainable = True
    base.trainable = True
    for layer in base.layers[:-6]:
        layer.trainable = False
    model.compile(optimizer=optimizers.Adam(1e-3), loss='sparse_categorical_crossentropy',
                  metrics=['acc'])
    second = model.fit(x, y, epochs=1, batch_size=12, shuffle=False, verbose=0)
    return {
        'first': first.history['loss'],
        'second': second.history['loss'],
        'weights': [frozen, len(model.trainable_weights), len(model.weights)],
        'moving': base.get_layer('conv_pw_13_bn').get_weights()[2][:6],
    }
