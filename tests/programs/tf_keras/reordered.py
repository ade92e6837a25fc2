"""Recurrence with time first; models cloned with other layers."""
import numpy as np
from drawing import draw
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras import layers


def changed(layer):
    config = layer.get_config()
    if isinstance(layer, layers.Dense):
        config['units'] += 1
        config['activation'] = 'tanh'
    return layer.__class__.from_config(config)


def main():
    found = {}
    x = keras.Input((2, 5), batch_size=3)
    data = np.arange(30.).reshape(3, 2, 5) / 10
    for name, layer in [
            ('lstm', layers.LSTM(4, time_major=True, return_sequences=True)),
            ('gru', layers.GRU(4, time_major=True)),
            ('simple', layers.SimpleRNN(4, time_major=True, return_sequences=True,
                                        return_state=True)),
            ('cell', layers.RNN(layers.LSTMCell(4), time_major=True, return_sequences=True))]:
        outputs = layer(x)
        flat = outputs if isinstance(outputs, list) else [outputs]
        draw(keras.Model(x, flat))
        for i, value in enumerate(K.function([x], flat)([data])):
            found['%s_%d' % (name, i)] = value

    steps, mask = K.placeholder((4, 2, 3)), K.placeholder((4, 2, 1), dtype='bool')
    seen = np.array([[1, 1], [0, 1], [1, 0], [0, 1]], bool)[..., None]
    for name, options in [('plain', {}), ('back', dict(unroll=True, go_backwards=True)),
                          ('kept', dict(mask=mask)),
                          ('zeros', dict(mask=mask, zero_output_for_mask=True))]:
        last, outputs, states = K.rnn(lambda t, s: (t + s[0], [t + s[0]]), steps,
                                      [K.zeros((2, 3))], time_major=True, **options)
        values = K.function([steps, mask], [last, outputs, states[0]])(
            [np.arange(24.).reshape(4, 2, 3), seen])
        for part, value in zip(('last', 'outputs', 'state'), values):
            found['%s_%s' % (name, part)] = value

    stacked = keras.Sequential([layers.Dense(4, activation='relu', input_shape=(5,), name='one'),
                                layers.Dropout(0.3), layers.Dense(2, name='two')])
    clone = keras.models.clone_model(stacked, clone_function=changed)
    draw(clone)
    found['stacked'] = clone.predict(data[0])
    found['named'] = [layer.name for layer in clone.layers] == ['one', 'dropout', 'two']
    y = keras.Input((5,))
    h = layers.Dense(3)(y)
    joined = keras.Model(y, layers.concatenate([layers.Dense(2, name='head')(h), h]))
    clone = keras.models.clone_model(joined, clone_function=changed)
    draw(clone)
    found['joined'] = clone.predict(data[0])
    kept = keras.models.clone_model(joined, input_tensors=keras.Input((5,)), clone_function=(
        lambda layer: layer if layer.name == 'head' else layer.__class__.from_config(
            layer.get_config())))
    found['same'] = kept.get_layer('head') is joined.get_layer('head')
    return found
