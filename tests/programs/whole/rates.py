"""Optimizers of a program's own: rates by layer, gathered gradients, and TensorFlow's, wrapped."""
import json

import keras
import keras.backend as K
import numpy as np
import tensorflow as tf
from keras.layers import Dense, Input
from keras.legacy import interfaces
from keras.models import Model
from keras.optimizers import Optimizer, TFOptimizer


class LRMultiplierSGD(Optimizer):
    """Momentum, with a factor of the rate for variables whose names hold a layer's."""

    def __init__(self, learning_rate=0.01, momentum=0., decay=0., nesterov=False,
                 multipliers=None, **kwargs):
        super(LRMultiplierSGD, self).__init__(**kwargs)
        with K.name_scope(self.__class__.__name__):
            self.iterations = K.variable(0, dtype='int64', name='iterations')
            self.learning_rate = K.variable(learning_rate, name='learning_rate')
            self.momentum = K.variable(momentum, name='momentum')
            self.decay = K.variable(decay, name='decay')
        self.initial_decay, self.nesterov = decay, nesterov
        self.multipliers = multipliers or {}

    def factor(self, name):
        found = [f for part, f in self.multipliers.items() if name.startswith(part)]
        return found[0] if found else 1.

    @interfaces.legacy_get_updates_support
    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        done = K.update_add(self.iterations, 1)  # what it gives is the number after this step
        self.updates = [done]
        lr = self.lr
        if self.initial_decay > 0:
            lr = lr * (1. / (1. + self.decay * (K.cast(done, K.dtype(self.decay)) - 1.)))
        moments = [K.zeros(K.int_shape(p)) for p in params]
        self.weights = [self.iterations] + moments
        for p, g, m in zip(params, grads, moments):
            rate = lr * self.factor(p.name)
            v = self.momentum * m - rate * g
            self.updates.append(K.update(m, v))
            new_p = p + self.momentum * v - rate * g if self.nesterov else p + v
            if getattr(p, 'constraint', None) is not None:
                new_p = p.constraint(new_p)
            self.updates.append(K.update(p, new_p))
        return self.updates

    def get_config(self):
        base = super(LRMultiplierSGD, self).get_config()
        return dict(list(base.items()) + [
            ('learning_rate', float(K.get_value(self.learning_rate))), ('momentum', float(K.get_value(self.momentum))),
            ('decay', float(K.get_value(self.decay))), ('nesterov', self.nesterov),
            ('multipliers', self.multipliers)])


class Gathered(keras.optimizers.Adam):
    """Adam on the mean of the gradients of several steps."""

    def __init__(self, steps=2, **kwargs):
        super(Gathered, self).__init__(**kwargs)
        self.steps = steps

    def get_updates(self, loss, params):
        done = K.update_add(self.iterations, 1)
        flag = K.equal(done % self.steps, 0)
        sums = [K.zeros(K.int_shape(p), name='sum_%d' % i) for i, p in enumerate(params)]
        grads = self.get_gradients(loss, params)
        means = [(s + g) / self.steps for s, g in zip(sums, grads)]
        self.get_gradients = lambda loss, params: means
        t = K.cast((done - 1) // self.steps, K.floatx()) + 1
        lr_t = self.lr * K.sqrt(1. - K.pow(self.beta_2, t)) / (1. - K.pow(self.beta_1, t))
        self.updates = [done]
        for p, g, mean, s in zip(params, grads, means, sums):
            m, v = K.zeros(K.int_shape(p)), K.zeros(K.int_shape(p))
            m_t = self.beta_1 * m + (1. - self.beta_1) * mean
            v_t = self.beta_2 * v + (1. - self.beta_2) * K.square(mean)
            p_t = p - lr_t * m_t / (K.sqrt(v_t) + self.epsilon)
            chosen = [(m, m_t), (v, v_t), (p, p_t)]
            chosen = [(old, K.switch(flag, new, old)) for old, new in chosen]
            chosen.append((s, K.switch(flag, K.zeros_like(s), s + g)))
            with tf.control_dependencies([new for _, new in chosen]):
                self.updates += [K.update(old, tf.identity(new)) for old, new in chosen]
        return self.updates


class DynamicRate(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        K.set_value(self.model.optimizer.lr, K.get_value(self.model.optimizer.lr) * .5)


def network(seed):
    draw = np.random.RandomState(seed)
    x = Input((5,), name='x')
    h = Dense(6, activation='tanh', name='features', kernel_constraint='maxnorm')(x)
    model = Model(x, Dense(1, name='head', kernel_regularizer=keras.regularizers.l2(1e-3))(h))
    model.set_weights([draw.normal(0, .5, w.shape) for w in model.get_weights()])
    return model


def trained(optimizer, x, y, callbacks=()):
    model = network(16)
    model.compile(optimizer, 'mse')
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0,
                        callbacks=list(callbacks)).history
    return history['loss'] + [float(np.abs(w).sum()) for w in model.get_weights()]


def main():
    draw = np.random.RandomState(15)
    x = draw.normal(size=(32, 5))
    y = np.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    first = LRMultiplierSGD(.05, .9, decay=1e-2, nesterov=True, multipliers={'features': .1},
                            clipnorm=1.)
    again = LRMultiplierSGD.from_config(first.get_config())
    step = tf.train.AdagradOptimizer(.1)
    result = {
        'multiplier': trained(first, x, y, [DynamicRate()]),
        'again': trained(again, x, y),
        'gathered': trained(Gathered(steps=2, lr=.05), x, y),
        'momentum': trained(TFOptimizer(tf.train.MomentumOptimizer(.02, .9)), x, y),
        'adam': trained(TFOptimizer(tf.train.AdamOptimizer(learning_rate=.02)), x, y),
        'adagrad': trained(keras.optimizers.TFOptimizer(step), x, y),
        'rmsprop': trained(tf.train.RMSPropOptimizer(.01), x, y),
        'descent': trained(tf.train.GradientDescentOptimizer(.05), x, y),
    }
    result['config'] = sorted(len(str(k)) for k in first.get_config())
    return result


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
