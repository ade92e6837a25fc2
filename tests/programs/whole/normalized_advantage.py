"""Normalized advantage functions: a lower-triangular matrix from a flat vector, by a scan."""
import json

import keras.backend as K
import numpy as np
from keras.layers import Activation, Concatenate, Dense, Flatten, Input, Lambda, Layer
from keras.models import Model, Sequential, model_from_config
from keras.optimizers import RMSprop

ACTIONS, STATES = 3, 4


class NAFLayer(Layer):
    """A(s, a) = -(a - mu)' L L' (a - mu) / 2 with L lower-triangular, or diagonal."""

    def __init__(self, nb_actions, mode='full', **kwargs):
        if mode not in ('full', 'diag'):
            raise RuntimeError('Unknown mode "{}" in NAFLayer.'.format(mode))
        self.nb_actions, self.mode = nb_actions, mode
        super(NAFLayer, self).__init__(**kwargs)

    def call(self, x, mask=None):
        L_flat, mu, a = x[0], x[1], x[2]
        if K.backend() != 'tensorflow':
            raise RuntimeError('Unknown Keras backend "{}".'.format(K.backend()))
        import tensorflow as tf
        if self.mode == 'full':
            nb_elems = (self.nb_actions * self.nb_actions + self.nb_actions) // 2
            diag_indices = [0]
            for row in range(1, self.nb_actions):
                diag_indices.append(diag_indices[-1] + (row + 1))
            diag_mask = np.zeros(1 + nb_elems)
            diag_mask[np.array(diag_indices) + 1] = 1
            diag_mask = K.variable(diag_mask)
            nb_rows = tf.shape(L_flat)[0]
            zeros = tf.expand_dims(tf.tile(K.zeros((1,)), [nb_rows]), 1)
            try:
                L_flat = tf.concat([zeros, L_flat], 1)
            except (TypeError, ValueError):
                L_flat = tf.concat(1, [zeros, L_flat])
            tril_mask = np.zeros((self.nb_actions, self.nb_actions), dtype='int32')
            tril_mask[np.tril_indices(self.nb_actions)] = range(1, nb_elems + 1)

            def fn(a, x):
                x_ = K.exp(x) + K.epsilon()
                x_ *= diag_mask
                x_ += x * (1. - diag_mask)
                return tf.gather(x_, tril_mask)

            L = tf.scan(fn, L_flat, initializer=K.zeros((self.nb_actions, self.nb_actions)))
        else:
            diagonal = K.exp(L_flat) + K.epsilon()

            def fn(a, x):
                return tf.diag(x)
            L = tf.scan(fn, diagonal, initializer=K.zeros((self.nb_actions, self.nb_actions)))
        LT = tf.transpose(L, perm=(0, 2, 1))
        P = K.batch_dot(L, LT, axes=(2, 1)) if self.mode == 'full' else tf.matmul(L, LT)
        prod = K.batch_dot(K.expand_dims(a - mu, 1), P)
        A = -.5 * K.batch_dot(prod, K.expand_dims(a - mu, -1))
        return K.batch_flatten(A)

    def get_output_shape_for(self, input_shape):
        return self.compute_output_shape(input_shape)

    def compute_output_shape(self, input_shape):
        if len(input_shape) != 3:
            raise RuntimeError("Expects 3 inputs: L, mu, a")
        return input_shape[0][0], 1

    def get_config(self):
        base = super(NAFLayer, self).get_config()
        return dict(list(base.items()) + [('nb_actions', self.nb_actions), ('mode', self.mode)])


def mlp(inputs, outputs):
    model = Sequential()
    model.add(Flatten(input_shape=inputs))
    model.add(Dense(6))
    model.add(Activation('relu'))
    model.add(Dense(outputs))
    return model


def combined(mode):
    size = ACTIONS * (ACTIONS + 1) // 2 if mode == 'full' else ACTIONS
    V, mu = mlp((1, STATES), 1), mlp((1, STATES), ACTIONS)
    a_in, o_in = Input(shape=(ACTIONS,), name='action_input'), Input((1, STATES), name='obs')
    L = mlp((1, ACTIONS + STATES), size)(
        Concatenate()([Lambda(lambda x: K.expand_dims(x, 1))(a_in), o_in]))
    A = NAFLayer(ACTIONS, mode=mode)([L, mu(o_in), a_in])
    out = Lambda(lambda x: x[0] + x[1], output_shape=lambda s: s[0])([A, V(o_in)])
    return Model([a_in, o_in], out), mu


def clipped_error(y_true, y_pred, delta=1.):
    """Huber's loss."""
    x = y_true - y_pred
    if K.backend() == 'tensorflow':
        import tensorflow as tf
        choose = tf.where if hasattr(tf, 'where') else tf.select
        small, large = .5 * K.square(x), delta * (K.abs(x) - .5 * delta)
        return K.mean(choose(K.abs(x) < delta, small, large), axis=-1)
    return K.mean(K.square(x), axis=-1)


class UpdatesOptimizer(RMSprop):
    """RMSprop, and other updates in the same step."""

    def __init__(self, additional_updates, **kwargs):
        super(UpdatesOptimizer, self).__init__(**kwargs)
        self.additional_updates = additional_updates

    def get_updates(self, params, loss):
        updates = super(UpdatesOptimizer, self).get_updates(params=params, loss=loss)
        updates += self.additional_updates
        self.updates = updates
        return self.updates


def trained(mode, draw):
    model, mu = combined(mode)
    target = model_from_config({'class_name': 'Model', 'config': model.get_config()}, {
        'NAFLayer': NAFLayer})
    model.set_weights([draw.normal(0, .4, w.shape) for w in model.get_weights()])
    target.set_weights(model.get_weights())
    steps = K.variable(0., name='steps')
    optimizer = UpdatesOptimizer([K.update_add(steps, 1.)], lr=.005, clipnorm=1.)
    model.compile(loss=clipped_error, optimizer=optimizer, metrics=['mae'])
    losses = []
    for _ in range(6):
        s, a = draw.normal(size=(8, 1, STATES)), draw.normal(size=(8, ACTIONS))
        y = .5 * target.predict([a, s]) + a[:, :1]
        losses.append(model.train_on_batch([a, s], y))
        target.set_weights([.9 * t + .1 * w for t, w in zip(
            target.get_weights(), model.get_weights())])
    assert K.get_value(steps) == len(losses)
    return losses, mu.predict(s), model.predict([a, s])


def main():
    full = trained('full', np.random.RandomState(13))
    diagonal = trained('diag', np.random.RandomState(14))
    return {'full': full[0], 'mu': full[1], 'q': full[2], 'diag': diagonal[0], 'q_diag': diagonal[2]}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
