import numpy as np
import pytest
from keras import backend as K
from keras.layers import Dense, Flatten
from keras.models import Sequential
from keras.optimizers import SGD
from numpy.testing import assert_allclose

from agents.dqn import DQNAgent, mean_q
from agents.memory import SequentialMemory
from agents.util import WhiteningNormalizer, huber_loss


class TwoRoundsDeterministic(object):
    """First 0 leads on, then 1 is worth most."""

    def reset(self):
        self.steps = 0
        return np.array([1., 0.])

    def step(self, action):
        self.steps += 1
        reward = float(action == (self.steps - 1)) * self.steps
        return np.array([1., float(self.steps)]), reward, self.steps >= 2


def made(**options):
    draw = np.random.RandomState(0)
    model = Sequential([Flatten(input_shape=(2, 2)), Dense(8, activation='relu'), Dense(2)])
    agent = DQNAgent(model, 2, SequentialMemory(100, window_length=2), **options)
    agent.model.set_weights([draw.normal(0, .5, w.shape) for w in agent.model.get_weights()])
    agent.compile(SGD(.05))
    env = TwoRoundsDeterministic()
    for _ in range(20):
        observation, done = env.reset(), False
        while not done:
            action = draw.randint(2)
            after, reward, done = env.step(action)
            agent.memory.append(observation, action, reward, done)
            observation = after
    return agent


@pytest.mark.parametrize('options', [
    {}, {'enable_dueling_network': True}, {'enable_dueling_network': True, 'dueling_type': 'max'},
    {'enable_dueling_network': True, 'dueling_type': 'naive', 'delta_clip': np.inf}])
def test_learns(options):
    agent = made(**options)
    losses = [agent.backward() for _ in range(60)]
    assert all(len(row) == 2 for row in losses)
    assert np.mean([row[0] for row in losses[-10:]]) < np.mean([row[0] for row in losses[:10]])
    state = agent.memory.state(0)
    assert agent.forward(np.array([[0., 0.], [1., 0.]])) in (0, 1)
    assert state.shape == (2, 2)


def test_target_follows():
    agent = made()
    target, model = agent.target_model.get_weights(), agent.model.get_weights()
    assert_allclose(target[0], model[0])
    for _ in range(5):
        agent.backward()
    after, moved = agent.target_model.get_weights(), agent.model.get_weights()
    assert 0 < np.abs(after[2] - model[2]).sum() < np.abs(moved[2] - model[2]).sum() * 1.5


@pytest.mark.parametrize('clip', [1., .5, np.inf])
def test_huber(clip):
    a, b = np.array([1., 1.5, 2., -4.]), np.array([1.5, 1.5, .2, 2.])
    x = np.abs(a - b)
    expected = np.where(x < clip, .5 * x ** 2, clip * (x - .5 * clip)) if clip < 9 else .5 * x ** 2
    assert_allclose(K.eval(huber_loss(K.variable(a), K.variable(b), clip)), expected, rtol=1e-6)


def test_mean_q_and_whitening():
    assert K.eval(mean_q(None, K.variable([[1., 2.], [4., 3.]]))) == 3.
    normalizer = WhiteningNormalizer((2,))
    x = np.random.RandomState(1).normal(3., 2., (50, 2))
    normalizer.update(x[:20])
    normalizer.update(x[20:])
    assert_allclose(normalizer.normalize(x).mean(0), 0., atol=1e-7)


def test_wrong_outputs():
    model = Sequential([Flatten(input_shape=(2, 2)), Dense(3)])
    with pytest.raises(ValueError):
        DQNAgent(model, 2, SequentialMemory(10))
