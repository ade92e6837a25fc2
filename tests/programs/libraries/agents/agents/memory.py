from collections import deque, namedtuple

import numpy as np

Experience = namedtuple('Experience', 'state0, action, reward, state1, terminal1')


class SequentialMemory(object):
    def __init__(self, limit, window_length=1, seed=0):
        self.steps, self.window_length = deque(maxlen=limit), window_length
        self.draw = np.random.RandomState(seed)

    def append(self, observation, action, reward, terminal):
        self.steps.append((observation, action, reward, terminal))

    def state(self, index):
        """The last observations up to an index, zeros before an episode's begin."""
        window = [self.steps[index][0]]
        for i in range(index - 1, index - self.window_length, -1):
            if i < 0 or self.steps[i][3]:
                break
            window.insert(0, self.steps[i][0])
        while len(window) < self.window_length:
            window.insert(0, np.zeros_like(window[0]))
        return np.array(window)

    def sample(self, batch_size):
        found = []
        while len(found) < batch_size:
            index = self.draw.randint(0, len(self.steps) - 1)
            _, action, reward, terminal = self.steps[index]
            found.append(Experience(self.state(index), action, reward, self.state(index + 1),
                                    terminal))
        return found
