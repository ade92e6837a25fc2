import numpy as np
import pytest
from keras import backend as K
from keras.layers import Activation, Concatenate, Dense, Dropout, Flatten, Input
from keras.models import Model, Sequential
from keras.optimizers import SGD
from numpy.testing import assert_allclose

from agents.ddpg import DDPGAgent
from agents.util import AdditionalUpdatesOptimizer, clone_model, get_soft_target_model_updates


def networks():
    draw = np.random.RandomState(0)
    actor = Sequential([Flatten(input_shape=(1, 3)), Dense(6), Activation('relu'), Dense(2),
                        Activation('tanh')])
    a, o = Input(shape=(2,), name='action_input'), Input(shape=(1, 3), name='observation_input')
    x = Dense(8, activation='relu')(Concatenate()([Flatten()(o), a]))
    critic = Model(inputs=[o, a], outputs=Dense(1)(x))
    for model in (actor, critic):
        model.set_weights([draw.normal(0, .5, w.shape) for w in model.get_weights()])
    return actor, critic, a


def test_learns():
    actor, critic, a = networks()
    agent = DDPGAgent(2, actor, critic, a)
    agent.compile(SGD(lr=.05, clipnorm=1.))
    draw, losses, worth = np.random.RandomState(1), [], []
    seen = draw.normal(size=(32, 1, 3))
    for _ in range(60):
        s, s1 = draw.normal(size=(32, 1, 3)), draw.normal(size=(32, 1, 3))
        action = draw.uniform(-1, 1, (32, 2))
        losses.append(agent.train(s, action, action.sum(1, keepdims=True), s1)[0])
        worth.append(actor.predict(seen).sum(1).mean())
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    assert worth[-1] > worth[0]


def test_soft_updates():
    actor, _, _ = networks()
    target = clone_model(actor)
    target.set_weights([0 * w for w in actor.get_weights()])
    K.function([], [K.constant(0.)], updates=get_soft_target_model_updates(target, actor, .25))([])
    for t, w in zip(target.get_weights(), actor.get_weights()):
        assert_allclose(t, .25 * w, rtol=1e-6)


def test_additional_updates():
    actor, _, _ = networks()
    count = K.variable(0.)
    actor.compile(AdditionalUpdatesOptimizer(SGD(.1), [(count, count + 1)]), 'mse')
    for _ in range(3):
        actor.train_on_batch(np.ones((2, 1, 3)), np.zeros((2, 2)))
    assert K.get_value(count) == 3


def test_action_input():
    actor, critic, _ = networks()
    with pytest.raises(ValueError):
        DDPGAgent(2, actor, critic, Input(shape=(2,)))
