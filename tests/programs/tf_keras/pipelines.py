"""Training, evaluation and prediction with datasets of tf.data."""
import warnings

import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras
from tensorflow.keras import layers

Dataset = tf.data.Dataset


def small():
    model = keras.Sequential([layers.Dense(4, activation='tanh', input_shape=(5,)),
                              layers.Dense(2)])
    draw(model)
    model.compile(keras.optimizers.SGD(0.1), 'mse', metrics=['mae'])
    return model


class Steps(keras.callbacks.Callback):
    def __init__(self):
        super(Steps, self).__init__()
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(batch)


def main():
    warnings.simplefilter('ignore')
    rng = np.random.RandomState(1)
    x, y = rng.randn(24, 5).astype('float32'), rng.randn(24, 2).astype('float32')
    found = {}

    model = small()
    data = Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2, b)).batch(8)
    history = model.fit(data.repeat().prefetch(1), epochs=2, steps_per_epoch=2, verbose=0,
                        validation_data=data.repeat(), validation_steps=2)
    found['repeated'] = [history.history[key] for key in ('loss', 'val_loss')]
    found['evaluated'] = model.evaluate(data.repeat(), steps=2, verbose=0)
    found['predicted'] = model.predict(data.repeat(), steps=1)

    model, uneven = small(), Dataset.from_tensor_slices((x, y)).batch(7)
    history = model.fit(uneven, epochs=2, verbose=0, validation_data=(
        Dataset.from_tensor_slices((x[:10], y[:10])).batch(4)))
    found['uneven'] = [history.history[key] for key in ('loss', 'val_loss')]
    found['uneven_mae'] = history.history['val_mae' if 'val_mae' in history.history
                                          else 'val_mean_absolute_error']
    found['whole'] = model.evaluate(uneven, verbose=0)
    found['outputs'] = model.predict(Dataset.from_tensor_slices(x).batch(5))

    model, steps = small(), Steps()
    history = model.fit(data, epochs=3, steps_per_epoch=2, verbose=0, callbacks=[steps])
    found['ended'], found['steps'] = history.history['loss'], steps.seen
    weighted = Dataset.from_tensor_slices((x, y, np.arange(24.).astype('float32'))).batch(6)
    found['weighted'] = small().fit(weighted, verbose=0).history['loss']

    def samples():
        for i in range(24):
            yield x[i], y[i]

    made = Dataset.from_generator(samples, (tf.float32, tf.float32), ((5,), (2,))).batch(6)
    found['made'] = small().fit(made, epochs=2, verbose=0).history['loss']

    a, b = keras.Input((5,), name='a'), keras.Input((5,), name='b')
    two = keras.Model([a, b], layers.Dense(2, name='o')(layers.concatenate([a, b])))
    draw(two)
    two.compile('sgd', 'mse')
    named = Dataset.from_tensor_slices(({'a': x, 'b': x * 2}, {'o': y})).batch(6)
    found['named'] = two.fit(named, verbose=0).history['loss']
    pairs = Dataset.from_tensor_slices(((x, x * 2), y)).batch(6)
    found['pairs'] = two.fit(pairs, verbose=0).history['loss']
    found['of_pairs'] = two.predict(pairs)[:3]
    for options in ({}, {'steps_per_epoch': 1, 'batch_size': 3},
                    {'steps_per_epoch': 1, 'validation_split': 0.5}):
        try:
            small().fit(data.repeat(), verbose=0, **options)
        except ValueError:
            found['refused_%d' % len(found)] = True
    return found
