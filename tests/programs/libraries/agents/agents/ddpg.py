import keras.backend as K
import keras.optimizers as optimizers
import numpy as np

from .util import (AdditionalUpdatesOptimizer, clone_model, clone_optimizer,
                   get_soft_target_model_updates, huber_loss)


class DDPGAgent(object):
    """An actor that climbs what a critic says of its actions."""

    def __init__(self, nb_actions, actor, critic, critic_action_input, gamma=.9, tau=.1):
        if critic_action_input not in critic.input:
            raise ValueError('Critic has no such action input.')
        if not hasattr(critic.input, '__len__') or len(critic.input) < 2:
            raise ValueError('Critic must have at least two inputs.')
        self.actor, self.critic, self.gamma, self.tau = actor, critic, gamma, tau
        self.critic_action_input = critic_action_input
        self.action_index = critic.input.index(critic_action_input)

    def compile(self, optimizer):
        actor_optimizer, critic_optimizer = optimizer, clone_optimizer(optimizer)
        self.target_actor, self.target_critic = clone_model(self.actor), clone_model(self.critic)
        self.target_actor.compile(optimizer='sgd', loss='mse')
        self.target_critic.compile(optimizer='sgd', loss='mse')
        self.actor.compile(optimizer='sgd', loss='mse')
        self.critic.compile(optimizer=critic_optimizer,
                            loss=lambda y_true, y_pred: huber_loss(y_true, y_pred, np.inf))

        combined_inputs, state_inputs = [], []
        for i in self.critic.input:
            if i == self.critic_action_input:
                combined_inputs.append([])
            else:
                combined_inputs.append(i)
                state_inputs.append(i)
        combined_inputs[self.action_index] = self.actor(state_inputs)
        combined_output = self.critic(combined_inputs)
        updates = actor_optimizer.get_updates(
            params=self.actor.trainable_weights, loss=-K.mean(combined_output))
        updates += self.actor.updates
        if K.backend() == 'tensorflow':
            self.actor_train_fn = K.function(
                state_inputs + [K.learning_phase()], [self.actor(state_inputs)], updates=updates)
        else:
            if self.actor.uses_learning_phase:
                state_inputs += [K.learning_phase()]
            self.actor_train_fn = K.function(
                state_inputs, [self.actor(state_inputs)], updates=updates)
        self.soft = K.function([], [K.constant(0.)], updates=(
            get_soft_target_model_updates(self.target_actor, self.actor, self.tau)
            + get_soft_target_model_updates(self.target_critic, self.critic, self.tau)))

    def train(self, states, actions, rewards, states1):
        y = self.target_critic.predict_on_batch(
            [states1, self.target_actor.predict_on_batch(states1)])
        loss = self.critic.train_on_batch([states, actions], rewards + self.gamma * y)
        chosen = self.actor_train_fn([states, 1])[0]
        self.soft([])
        return loss, chosen
