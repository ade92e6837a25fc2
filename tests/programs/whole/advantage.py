"""Advantage actor-critic: one network, n-step returns, gradients clipped by their global norm."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense, Input
from keras.models import Model

GAMMA, N_STEP, LOSS_V, LOSS_ENTROPY = .99, 4, .5, .01
STATES, ACTIONS = 4, 2


class Cart(object):
    """A pole on a cart, simplified: the state is pushed and leaks."""

    def __init__(self, seed):
        self.draw = np.random.RandomState(seed)

    def reset(self):
        self.state, self.t = self.draw.uniform(-.1, .1, STATES), 0
        return self.state

    def step(self, action):
        push = np.array([0., 1., 0., -1.]) * (1 if action else -1)
        self.state = .95 * self.state + .1 * push + .02 * self.draw.normal(size=STATES)
        self.t += 1
        return self.state, 1. - abs(self.state[1]), self.t >= 12


class Brain(object):
    def __init__(self):
        self.session = tf.Session()
        K.set_session(self.session)
        K.manual_variable_initialization(True)
        self.model = self._build_model()
        self.graph = self._build_graph(self.model)
        self.session.run(tf.global_variables_initializer())
        self.default_graph = tf.get_default_graph()

    def _build_model(self):
        l_input = Input(batch_shape=(None, STATES))
        l_dense = Dense(8, activation='relu')(l_input)
        out_actions = Dense(ACTIONS, activation='softmax')(l_dense)
        out_value = Dense(1, activation='linear')(l_dense)
        model = Model(inputs=[l_input], outputs=[out_actions, out_value])
        model._make_predict_function()
        return model

    def _build_graph(self, model):
        s_t = tf.placeholder(tf.float32, shape=(None, STATES))
        a_t = tf.placeholder(tf.float32, shape=(None, ACTIONS))
        r_t = tf.placeholder(tf.float32, shape=(None, 1))
        p, v = model(s_t)
        log_prob = tf.log(tf.reduce_sum(p * a_t, axis=1, keep_dims=True) + 1e-10)
        advantage = r_t - v
        loss_policy = -log_prob * tf.stop_gradient(advantage)
        loss_value = LOSS_V * tf.square(advantage)
        entropy = LOSS_ENTROPY * tf.reduce_sum(p * tf.log(p + 1e-10), axis=1, keep_dims=True)
        loss_total = tf.reduce_mean(loss_policy + loss_value + entropy)
        self.global_step = tf.Variable(0, trainable=False, name='global_step')
        rate = tf.train.exponential_decay(5e-3, self.global_step, 3, .9, staircase=True)
        optimizer = tf.train.RMSPropOptimizer(rate, decay=.99)
        variables = model.trainable_weights
        grads = tf.gradients(loss_total, variables)
        grads, self.norm = tf.clip_by_global_norm(grads, .5)
        minimize = optimizer.apply_gradients(
            list(zip(grads, variables)), global_step=self.global_step)
        return s_t, a_t, r_t, minimize, loss_total

    def optimize(self, s, a, r, s_, mask):
        r = r + GAMMA ** N_STEP * self.predict(s_)[1] * mask
        s_t, a_t, r_t, minimize, loss = self.graph
        norm, found = self.session.run([self.norm, loss], feed_dict={s_t: s, a_t: a, r_t: r})
        self.session.run(minimize, feed_dict={s_t: s, a_t: a, r_t: r})
        return found, norm

    def predict(self, s):
        with self.default_graph.as_default():
            return self.model.predict(s)


class Agent(object):
    def __init__(self, brain):
        self.brain, self.memory, self.R = brain, [], 0.

    def act(self, s):
        return int(self.brain.predict(np.array([s]))[0][0, 1] > .5)

    def steps(self, env):
        """Transitions over n steps of one episode."""
        s, done, memory = env.reset(), False, []
        while not done:
            a = self.act(s)
            s_, r, done = env.step(a)
            memory.append((s, np.eye(ACTIONS)[a], r, s_))
            s = s_
        for i in range(len(memory)):
            part = memory[i:i + N_STEP]
            total = sum(GAMMA ** k * step[2] for k, step in enumerate(part))
            yield memory[i][0], memory[i][1], total, part[-1][3], float(len(part) == N_STEP)


def main():
    brain = Brain()
    draw = np.random.RandomState(8)
    brain.model.set_weights([draw.normal(0, .5, w.shape) for w in brain.model.get_weights()])
    agent, env, losses, norms = Agent(brain), Cart(9), [], []
    for _ in range(6):
        s, a, r, s_, mask = (np.vstack(x) for x in zip(*agent.steps(env)))
        loss, norm = brain.optimize(s, a, r, s_, mask)
        losses.append(loss)
        norms.append(norm)
    step = brain.session.run(brain.global_step)
    K.manual_variable_initialization(False)
    p, v = brain.predict(s)
    return {'losses': losses, 'norms': norms, 'step': step, 'policy': p, 'value': v}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
