import keras.backend as K
import numpy as np
from keras.layers import Dense, Input, Lambda
from keras.models import Model

from .util import (AdditionalUpdatesOptimizer, clone_model, clone_optimizer,
                   get_soft_target_model_updates, huber_loss)


def mean_q(y_true, y_pred):
    return K.mean(K.max(y_pred, axis=-1))


class DQNAgent(object):
    """Deep Q-learning, double and dueling, with a target network."""

    def __init__(self, model, nb_actions, memory, gamma=.9, batch_size=8, target_model_update=.1,
                 delta_clip=1., enable_dueling_network=False, dueling_type='avg'):
        if isinstance(model.output, (list, tuple)) and len(model.output) > 1:
            raise ValueError('Model "{}" has more than one output.'.format(model))
        if model.output._keras_shape != (None, nb_actions):
            raise ValueError('Model output "{}" has invalid shape.'.format(model.output))
        self.nb_actions, self.memory, self.gamma = nb_actions, memory, gamma
        self.batch_size, self.delta_clip = batch_size, delta_clip
        self.target_model_update = target_model_update
        if enable_dueling_network:
            layer = model.layers[-2]
            y = Dense(nb_actions + 1, activation='linear')(layer.output)
            choose = {
                'avg': lambda a: K.expand_dims(a[:, 0], -1) + a[:, 1:] - K.mean(
                    a[:, 1:], axis=1, keepdims=True),
                'max': lambda a: K.expand_dims(a[:, 0], -1) + a[:, 1:] - K.max(
                    a[:, 1:], axis=1, keepdims=True),
                'naive': lambda a: K.expand_dims(a[:, 0], -1) + a[:, 1:]}
            out = Lambda(choose[dueling_type], output_shape=(nb_actions,))(y)
            model = Model(inputs=model.input, outputs=out)
        self.model, self.compiled = model, False

    def compile(self, optimizer, metrics=[]):
        metrics += [mean_q]
        self.target_model = clone_model(self.model)
        self.target_model.compile(optimizer='sgd', loss='mse')
        self.model.compile(optimizer='sgd', loss='mse')
        if self.target_model_update < 1.:
            updates = get_soft_target_model_updates(
                self.target_model, self.model, self.target_model_update)
            optimizer = AdditionalUpdatesOptimizer(optimizer, updates)

        def clipped_masked_error(args):
            y_true, y_pred, mask = args
            return K.sum(huber_loss(y_true, y_pred, self.delta_clip) * mask, axis=-1)

        y_pred = self.model.output
        y_true = Input(name='y_true', shape=(self.nb_actions,))
        mask = Input(name='mask', shape=(self.nb_actions,))
        loss_out = Lambda(clipped_masked_error, output_shape=(1,), name='loss')(
            [y_true, y_pred, mask])
        ins = [self.model.input] if type(self.model.input) is not list else self.model.input
        trainable_model = Model(inputs=ins + [y_true, mask], outputs=[loss_out, y_pred])
        assert len(trainable_model.output_names) == 2
        combined_metrics = {trainable_model.output_names[1]: metrics}
        losses = [lambda y_true, y_pred: y_pred, lambda y_true, y_pred: K.zeros_like(y_pred)]
        trainable_model.compile(optimizer=optimizer, loss=losses, metrics=combined_metrics)
        self.trainable_model, self.compiled = trainable_model, True

    def forward(self, state):
        return int(np.argmax(self.model.predict_on_batch(np.array([state]))[0]))

    def backward(self):
        experiences = self.memory.sample(self.batch_size)
        state0, state1 = (np.array([getattr(e, k) for e in experiences])
                          for k in ('state0', 'state1'))
        reward, terminal = (np.array([getattr(e, k) for e in experiences], dtype='float64')
                            for k in ('reward', 'terminal1'))
        actions = np.argmax(self.model.predict_on_batch(state1), axis=1)
        target_q = self.target_model.predict_on_batch(state1)
        q = target_q[range(self.batch_size), actions]
        Rs = reward + self.gamma * q * (1. - terminal)
        targets, masks = np.zeros((self.batch_size, self.nb_actions)), np.zeros(
            (self.batch_size, self.nb_actions))
        dummy = np.zeros(self.batch_size)
        for i, e in enumerate(experiences):
            targets[i, e.action], masks[i, e.action], dummy[i] = Rs[i], 1., Rs[i]
        metrics = self.trainable_model.train_on_batch(
            [state0, targets, masks], [dummy, targets])
        return [m for i, m in enumerate(metrics) if i not in (1, 2)]
