"""Reviews by an embedding and an LSTM, with a generator of batches and two callbacks."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow import keras
from tensorflow.keras.preprocessing import sequence

max_features, maxlen = 40, 12


def reviews(count, seed):
    rng = np.random.RandomState(seed)
    texts = [rng.randint(1, max_features, rng.randint(3, maxlen + 4)).tolist()
             for _ in range(count)]
    labels = np.array([int(np.mean(t) > max_features / 2) for t in texts])
    return sequence.pad_sequences(texts, maxlen=maxlen), labels


class Batches(keras.utils.Sequence):
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size

    def __len__(self):
        return int(np.ceil(len(self.x) / float(self.size)))

    def __getitem__(self, i):
        part = slice(i * self.size, (i + 1) * self.size)
        return self.x[part], self.y[part]


def main():
    x_train, y_train = reviews(80, 1)
    x_test, y_test = reviews(40, 2)
    model = keras.models.Sequential([
        keras.layers.Embedding(max_features, 8, mask_zero=True),
        keras.layers.LSTM(10, dropout=0.0, recurrent_dropout=0.0),
        keras.layers.Dense(1, activation=tf.nn.sigmoid),
    ])
    model.build((None, maxlen))
    draw(model)
    model.compile(loss=keras.losses.BinaryCrossentropy(),
                  optimizer=keras.optimizers.RMSprop(learning_rate=0.02),
                  metrics=['accuracy', keras.metrics.AUC(num_thresholds=20)])
    callbacks = [
        keras.callbacks.EarlyStopping(monitor='val_loss', patience=1, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau(monitor='val_loss', factor=0.2, patience=0,
                                          min_delta=0.05, min_lr=1e-4),
    ]
    history = model.fit_generator(Batches(x_train, y_train, 20), epochs=5, verbose=0,
                                  shuffle=False, callbacks=callbacks, class_weight={0: 1.0, 1: 2.0},
                                  validation_data=(x_test, y_test))
    loss, accuracy, area = model.evaluate(x_test, y_test, verbose=0)
    return {
        'loss': history.history['loss'],
        'lr': history.history['lr'],
        'val_loss': history.history['val_loss'],
        'evaluated': [loss, accuracy, area],
        'rate': keras.backend.get_value(model.optimizer.lr),
        'first': model.predict(x_test[:4]),
    }
