"""Soft actor-critic and deterministic policy gradients in plain TensorFlow with Keras layers."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import Concatenate, Dense, Input
from keras.models import Model

STATES, ACTIONS, HIDDEN = 4, 2, 8


class Noise(object):
    """A process of Ornstein and Uhlenbeck."""

    def __init__(self, mu, draw, sigma=.3, theta=.15, dt=1e-2):
        self.mu, self.draw, self.sigma, self.theta, self.dt = mu, draw, sigma, theta, dt
        self.x = np.zeros_like(mu)

    def __call__(self):
        self.x = self.x + self.theta * (self.mu - self.x) * self.dt + \
            self.sigma * np.sqrt(self.dt) * self.draw.normal(size=self.mu.shape)
        return self.x


def mlp(x, sizes, name, reuse=None):
    """A network of raw variables, found again by their scope."""
    with tf.variable_scope(name, reuse=reuse):
        for i, size in enumerate(sizes):
            with tf.variable_scope('fc%d' % i):
                w = tf.get_variable('w', [x.get_shape()[-1].value, size],
                                    initializer=tf.constant_initializer(0.))
                b = tf.get_variable('b', [size], initializer=tf.zeros_initializer())
                x = tf.matmul(x, w) + b
                if i < len(sizes) - 1:
                    x = tf.nn.relu(x)
        return x


class SoftActorCritic(object):
    def __init__(self, sess, gamma=.9, tau=.2, alpha=.1):
        self.sess = sess
        self.s = tf.placeholder(tf.float32, [None, STATES], 's')
        self.s_ = tf.placeholder(tf.float32, [None, STATES], 's_')
        self.a = tf.placeholder(tf.float32, [None, ACTIONS], 'a')
        self.r = tf.placeholder(tf.float32, [None, 1], 'r')
        self.noise = tf.placeholder(tf.float32, [None, ACTIONS], 'noise')
        pi, log_p = self._policy(self.s, 'actor')
        q = mlp(tf.concat([self.s, self.a], 1), [HIDDEN, 1], 'critic')
        q_pi = mlp(tf.concat([self.s, pi], 1), [HIDDEN, 1], 'critic', reuse=True)
        v = mlp(self.s, [HIDDEN, 1], 'value')
        v_target = mlp(self.s_, [HIDDEN, 1], 'target')
        backup = tf.stop_gradient(self.r + gamma * v_target)
        self.q_loss = .5 * tf.reduce_mean((backup - q) ** 2)
        self.v_loss = .5 * tf.reduce_mean((tf.stop_gradient(q_pi - alpha * log_p) - v) ** 2)
        self.pi_loss = tf.reduce_mean(alpha * log_p - q_pi)
        self.pi = pi
        params = {k: tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=k)
                  for k in ('actor', 'critic', 'value', 'target')}
        self.params = params
        pi_op = tf.train.AdamOptimizer(1e-2).minimize(self.pi_loss, var_list=params['actor'])
        q_op = tf.train.AdamOptimizer(learning_rate=2e-2).minimize(
            self.q_loss, var_list=params['critic'])
        v_op = tf.train.RMSPropOptimizer(2e-2).minimize(self.v_loss, var_list=params['value'])
        self.steps = [(self.pi_loss, pi_op), (self.q_loss, q_op), (self.v_loss, v_op)]
        self.updates = tf.Variable(0, trainable=False, name='updates')
        soft = [tf.assign(t, tau * e + (1 - tau) * t)
                for t, e in zip(params['target'], params['value'])]
        with tf.control_dependencies(soft):
            self.soft = tf.assign_add(self.updates, 1)
        self.hard = [tf.assign(t, e) for t, e in zip(params['target'], params['value'])]

    def _policy(self, s, scope):
        out = mlp(s, [HIDDEN, 2 * ACTIONS], scope)
        mean, log_std = tf.split(out, 2, axis=1)
        log_std = tf.clip_by_value(log_std, -5., 2.)
        raw = mean + self.noise * tf.exp(log_std)
        log_p = -.5 * (((raw - mean) / (tf.exp(log_std) + 1e-8)) ** 2 + 2 * log_std
                       + np.log(2 * np.pi))
        log_p -= 2 * (np.log(2) - raw - tf.nn.softplus(-2 * raw))  # log(1 - tanh ** 2)
        return tf.tanh(raw), tf.reduce_sum(log_p, axis=1, keepdims=True)

    def learn(self, batch):
        losses = [self.sess.run([loss, op], batch)[0] for loss, op in self.steps]
        return losses + [self.sess.run(self.soft)]


class Actor(object):
    """The actor of deterministic policy gradients: Keras's layers, TensorFlow's optimizer."""

    def __init__(self, sess, lr=.01, tau=.1):
        self.sess, self.tau = sess, tau
        K.set_session(sess)
        self.model, self.weights, self.state = self.create()
        self.target, self.target_weights, self.target_state = self.create()
        self.action_gradient = tf.placeholder(tf.float32, [None, ACTIONS])
        self.params_grad = tf.gradients(self.model.output, self.weights, -self.action_gradient)
        self.optimize = tf.train.AdamOptimizer(lr).apply_gradients(
            zip(self.params_grad, self.weights))

    def create(self):
        S = Input(shape=[STATES])
        h = Dense(HIDDEN, activation='relu')(S)
        model = Model(inputs=S, outputs=Dense(ACTIONS, activation='tanh')(h))
        return model, model.trainable_weights, S

    def train(self, states, grads):
        self.sess.run(self.optimize, feed_dict={self.state: states, self.action_gradient: grads})

    def target_train(self):
        pairs = zip(self.model.get_weights(), self.target.get_weights())
        self.target.set_weights([self.tau * w + (1 - self.tau) * t for w, t in pairs])


class Critic(object):
    def __init__(self, sess):
        self.sess = sess
        S, A = Input(shape=[STATES]), Input(shape=[ACTIONS], name='action2')
        h = Dense(HIDDEN, activation='relu')(Concatenate()([S, A]))
        self.model = Model([S, A], Dense(1, activation='linear')(h))
        self.model.compile(loss='mse', optimizer='sgd')
        self.state, self.action = S, A
        self.action_grads = tf.gradients(self.model.output, A)

    def gradients(self, states, actions):
        return self.sess.run(self.action_grads,
                             feed_dict={self.state: states, self.action: actions})[0]


def batch(draw, n=16):
    s, a = draw.normal(size=(n, STATES)), draw.uniform(-1, 1, (n, ACTIONS))
    return s, a, (s[:, :1] * a[:, :1]), s + .1 * draw.normal(size=s.shape)


def soft_actor_critic(draw):
    with tf.Graph().as_default(), tf.Session() as sess:
        agent = SoftActorCritic(sess)
        sess.run(tf.global_variables_initializer())
        for v in tf.trainable_variables():
            v.load(draw.normal(0, .4, v.get_shape().as_list()), sess)
        sess.run(agent.hard)
        names = sorted(v.op.name for v in tf.trainable_variables())
        losses = []
        for _ in range(6):
            s, a, r, s_ = batch(draw)
            losses.append(agent.learn({agent.s: s, agent.a: a, agent.r: r, agent.s_: s_,
                                       agent.noise: draw.normal(size=a.shape)}))
        target = sess.run(agent.params['target'])
        return {'losses': losses, 'target': target[0],
                'names': [len(n) for n in names], 'count': len(tf.global_variables())}


def deterministic(draw):
    sess = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))
    K.set_session(sess)
    actor, critic = Actor(sess), Critic(sess)
    sess.run(tf.global_variables_initializer())
    for model in (actor.model, actor.target, critic.model):
        model.set_weights([draw.normal(0, .4, w.shape) for w in model.get_weights()])
    noise, losses = Noise(np.zeros(ACTIONS), draw), []
    for _ in range(5):
        s, _, r, s_ = batch(draw)
        a = actor.model.predict(s) + noise()
        y = r + .9 * critic.model.predict([s_, actor.target.predict(s_)])
        losses.append(critic.model.train_on_batch([s, a], y))
        actor.train(s, critic.gradients(s, actor.model.predict(s)))
        actor.target_train()
    return {'ddpg': losses, 'actor': actor.model.predict(s), 'slow': actor.target.predict(s)}


def main():
    found = soft_actor_critic(np.random.RandomState(6))
    found.update(deterministic(np.random.RandomState(7)))
    return found


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
