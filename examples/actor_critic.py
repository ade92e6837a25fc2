"""Balance a pole on a cart: an actor-critic whose updates are a K.function of its own.

Sixteen carts, simulated in NumPy, learn together. One network sees a cart and says how likely it
is to push it to the right (the actor), and how long it expects the pole to stand (the critic). No
model.fit: the update is a K.function made from K.log, K.stop_gradient and the updates that an
optimizer's get_updates returns. Dropout is on while the network learns and off while it acts: the
learning phase is an input of both functions, 1 for one, 0 for the other.

Reached: pushed always as the actor deems best, the pole stands for at least 180 of at most 200
steps, on average over 20 new starts.

Source: R. Sutton, A. Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, chapter
13.5; V. Mnih and others, "Asynchronous Methods for Deep Reinforcement Learning", ICML 2016; the
cart: A. Barto, R. Sutton, C. Anderson, "Neuronlike adaptive elements that can solve difficult
learning control problems", IEEE Transactions on Systems, Man, and Cybernetics 13, 1983.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import Dense, Dropout, Input
from keras.models import Model
from keras.optimizers import Adam

CARTS, STEPS, UPDATES = 16, 16, 500
RATE = 0.004
DISCOUNT, REWARD = 0.98, 0.05  # for each step that the pole stands
LONGEST = 200  # steps of an episode
WANTED = 180.0


class Carts:
    """Carts with poles: position, speed, angle and turning speed of each."""

    def __init__(self, count):
        self.states = np.zeros((count, 4))
        self.ages = np.zeros(count, dtype=int)
        self.restart(np.ones(count, dtype=bool))

    def restart(self, which):
        self.states[which] = np.random.uniform(-0.05, 0.05, (which.sum(), 4))
        self.ages[which] = 0

    def step(self, actions):
        """Push each cart left (0) or right (1); return which poles fell."""
        _, speed, angle, turning = self.states.T
        sine, cosine = np.sin(angle), np.cos(angle)
        push = (np.where(actions == 1, 10.0, -10.0) + 0.05 * turning**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
        change = [speed, push - 0.05 * turn * cosine / 1.1, turning, turn]
        self.states += 0.02 * np.stack(change, axis=1)
        self.ages += 1
        return (np.abs(self.states[:, 0]) > 2.4) | (np.abs(self.states[:, 2]) > 0.21)


def build():
    """Return two functions, and the optimizer whose updates the second one does.

    The functions: act (states, phase), learn (states, actions, returns, phase).
    """
    states = Input(shape=(4,))
    hidden = Dense(64, activation="relu")(states)
    hidden = Dropout(0.1)(hidden)
    hidden = Dense(64, activation="relu")(hidden)
    policy = Dense(2, activation="softmax", name="actor")(hidden)
    value = Dense(1, name="critic")(hidden)
    model = Model(states, [policy, value])
    act = K.function([states, K.learning_phase()], [policy, K.flatten(value)])

    actions = K.placeholder(shape=(None,), dtype="int32")
    returns = K.placeholder(shape=(None,))
    advantages = returns - K.flatten(value)
    chosen = K.sum(policy * K.one_hot(actions, 2), axis=1)
    gain = K.mean(K.log(chosen + K.epsilon()) * K.stop_gradient(advantages))
    entropy = -K.mean(K.sum(policy * K.log(policy + K.epsilon()), axis=1))
    error = K.mean(K.square(advantages))
    loss = 0.5 * error - gain - 0.01 * entropy
    optimizer = Adam(lr=RATE, clipnorm=1.0)
    updates = optimizer.get_updates(loss=loss, params=model.trainable_weights)
    inputs = [states, actions, returns, K.learning_phase()]
    return act, K.function(inputs, [loss, entropy], updates=updates), optimizer


def play(carts, act, lengths):
    """Play some steps; return what was seen and done, and which episodes ended, by steps."""
    seen, done, ends = [], [], []
    for _ in range(STEPS):
        policy, _ = act([carts.states, 0])
        done.append(np.random.rand(len(policy)) < policy[:, 1])
        seen.append(carts.states.copy())
        end = carts.step(done[-1]) | (carts.ages >= LONGEST)
        ends.append(end)
        lengths.extend(carts.ages[end])
        carts.restart(end)
    return np.array(seen), np.array(done), np.array(ends)


def discounted(ends, following):
    """Return what each step was worth; `following` is what the critic expects of the last."""
    returns = np.zeros(ends.shape)
    for step in reversed(range(len(ends))):
        following = REWARD + DISCOUNT * np.where(ends[step], 0.0, following)
        returns[step] = following
    return returns


def try_out(act, count):
    """Push as the actor deems best, till the pole falls; return steps and the angles."""
    carts = Carts(count)
    standing, lengths, angles = np.ones(count, dtype=bool), np.zeros(count), []
    for _ in range(LONGEST):
        policy, _ = act([carts.states, 0])
        standing &= ~carts.step(np.argmax(policy, axis=1))
        lengths += standing
        angles.append(np.where(standing, np.degrees(carts.states[:, 2]), np.nan))
    return lengths, np.array(angles)


def draw(path, lengths, angles):
    """Left, the steps for which the pole stood, by episode: a point for each episode while
    learning, and the mean of 50. Right, the angle of the pole in five new episodes, after
    learning.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    left.plot(lengths, ".", markersize=2, label="an episode")
    left.plot(np.convolve(lengths, np.ones(50) / 50, "valid"), label="mean of 50 episodes")
    left.legend(loc="lower right")
    left.set_xlabel("episode while learning")
    left.set_ylabel("steps till the pole fell")
    right.plot(angles[:, :5])
    right.set_xlabel("step")
    right.set_ylabel("angle of the pole, after learning (degrees)")
    figure.tight_layout()
    figure.savefig(path)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="actor_critic.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    np.random.seed(options.seed)

    act, learn, optimizer = build()
    carts, lengths = Carts(CARTS), []
    for update in range(1, UPDATES + 1):
        K.set_value(optimizer.lr, RATE * (1.0 - update / (UPDATES + 1.0)))
        seen, done, ends = play(carts, act, lengths)
        _, expected = act([carts.states, 0])
        returns = discounted(ends, expected)
        batch = [seen.reshape(-1, 4), done.reshape(-1).astype("int32"), returns.reshape(-1)]
        loss, entropy = learn(batch + [1])
        if update % 50 == 0:
            mean = np.mean(lengths[-50:])
            print(
                "after %3d updates: %5.1f steps, loss %.3f, entropy %.3f"
                % (update, mean, loss, entropy)
            )

    steps, angles = try_out(act, 20)
    draw(options.out, lengths, angles)
    print("steps the pole stands: %.1f (wanted: %.0f)" % (steps.mean(), WANTED))
    return 0 if steps.mean() >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
