"""First weights by NumPy, so that every run begins alike."""
import numpy as np


def draw(model, seed=0, size=0.2):
    """Give a model weights; those that must be positive stay as they are."""
    rng = np.random.RandomState(seed)
    values = []
    for weight in model.weights:
        shape = tuple(int(n) for n in weight.shape)
        if 'moving_variance' in weight.name or 'gamma' in weight.name:
            values.append(np.ones(shape, 'float32'))
        else:
            values.append(np.asarray(rng.standard_normal(shape) * size, 'float32'))
    model.set_weights(values)
