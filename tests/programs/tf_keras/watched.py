"""Callbacks: schedules, checkpoints, logs in files, one's own; progress read from the logs."""
import csv
import os
import tempfile

import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow.keras import backend as K
from tensorflow.keras.callbacks import (Callback, CSVLogger, LambdaCallback, LearningRateScheduler,
                                        ModelCheckpoint, TensorBoard, TerminateOnNaN)


class Losses(Callback):
    def on_train_begin(self, logs=None):
        self.batches, self.epochs, self.rates = [], [], []

    def on_train_batch_end(self, batch, logs=None):
        self.batches.append(float(logs.get('loss')))

    def on_epoch_end(self, epoch, logs={}):
        self.epochs.append([float(logs['val_acc']), float(logs.get('val_loss'))])
        self.rates.append(float(K.get_value(self.model.optimizer.lr)))
        if logs.get('val_loss') < 0.05:
            self.model.stop_training = True


def main():
    rng = np.random.RandomState(8)
    x = rng.randn(64, 5).astype('float32')
    y = tf.keras.utils.to_categorical((x.sum(1) > 0).astype(int) + (x[:, 0] > 1), 3)
    folder = tempfile.mkdtemp()
    best = os.path.join(folder, 'best-{epoch:02d}-{val_loss:.2f}.hdf5')
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.InputLayer(input_shape=(5,)))
    model.add(tf.keras.layers.Dense(7))
    model.add(tf.keras.layers.ReLU(max_value=6.0, negative_slope=0.1))
    model.add(tf.keras.layers.Dense(3))
    model.add(tf.keras.layers.Softmax())
    draw(model)
    model.compile(optimizer=tf.keras.optimizers.Adamax(), loss='categorical_crossentropy',
                  metrics=['accuracy', tf.keras.metrics.CategoricalCrossentropy(name='entropy')])
    losses, epochs = Losses(), []
    history = model.fit(x[:48], y[:48], epochs=4, batch_size=16, shuffle=False, verbose=0,
                        validation_data=(x[48:], y[48:]), callbacks=[
                            losses, TerminateOnNaN(),
                            LearningRateScheduler(lambda epoch, lr: 0.05 * 0.5 ** epoch),
                            ModelCheckpoint(best, save_best_only=True, monitor='val_loss'),
                            ModelCheckpoint(os.path.join(folder, 'last.h5'), save_freq='epoch',
                                            save_weights_only=True),
                            CSVLogger(os.path.join(folder, 'log.csv')),
                            TensorBoard(log_dir=os.path.join(folder, 'logs'), update_freq='epoch',
                                        profile_batch=0),
                            LambdaCallback(on_epoch_end=lambda e, logs: epochs.append(e))])
    with open(os.path.join(folder, 'log.csv')) as file:
        rows = list(csv.DictReader(file))
    saved = sorted(name for name in os.listdir(folder) if name.startswith('best'))
    loaded = tf.keras.models.load_model(os.path.join(folder, saved[-1]))
    return {
        'batches': losses.batches,
        'epochs': losses.epochs,
        'rates': losses.rates,
        'entropy': history.history['val_entropy'],
        'logged': [float(row['acc']) for row in rows],
        'seen': epochs,
        'saved': [int(name.split('-')[1]) for name in saved],
        'loaded': loaded.evaluate(x, y, verbose=0),
        'logs': float(len(os.listdir(os.path.join(folder, 'logs'))) > 0),
    }
