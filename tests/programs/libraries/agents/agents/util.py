import numpy as np
from keras import backend as K
from keras import optimizers
from keras.models import model_from_config


def clone_model(model, custom_objects={}):
    config = {'class_name': model.__class__.__name__, 'config': model.get_config()}
    clone = model_from_config(config, custom_objects=custom_objects)
    clone.set_weights(model.get_weights())
    return clone


def clone_optimizer(optimizer):
    if type(optimizer) is str:
        return optimizers.get(optimizer)
    params = dict([(k, v) for k, v in optimizer.get_config().items()])
    config = {'class_name': optimizer.__class__.__name__, 'config': params}
    if hasattr(optimizers, 'optimizer_from_config'):
        return optimizers.optimizer_from_config(config)
    return optimizers.deserialize(config)


def get_soft_target_model_updates(target, source, tau):
    target_weights = target.trainable_weights + sum(
        [layer.non_trainable_weights for layer in target.layers], [])
    source_weights = source.trainable_weights + sum(
        [layer.non_trainable_weights for layer in source.layers], [])
    assert len(target_weights) == len(source_weights)
    return [(tw, tau * sw + (1. - tau) * tw) for tw, sw in zip(target_weights, source_weights)]


def huber_loss(y_true, y_pred, clip_value):
    assert clip_value > 0.
    x = y_true - y_pred
    if np.isinf(clip_value):
        return .5 * K.square(x)
    condition = K.abs(x) < clip_value
    squared_loss = .5 * K.square(x)
    linear_loss = clip_value * (K.abs(x) - .5 * clip_value)
    if K.backend() == 'tensorflow':
        import tensorflow as tf
        if hasattr(tf, 'select'):
            return tf.select(condition, squared_loss, linear_loss)
        else:
            return tf.where(condition, squared_loss, linear_loss)
    elif K.backend() == 'theano':
        from theano import tensor as T
        return T.switch(condition, squared_loss, linear_loss)
    raise RuntimeError('Unknown backend "{}".'.format(K.backend()))


class AdditionalUpdatesOptimizer(optimizers.Optimizer):
    """Another optimizer, with updates after its own."""

    def __init__(self, optimizer, additional_updates):
        super(AdditionalUpdatesOptimizer, self).__init__()
        self.optimizer, self.additional_updates = optimizer, additional_updates

    def get_updates(self, params, loss):
        updates = self.optimizer.get_updates(params=params, loss=loss)
        updates += self.additional_updates
        self.updates = updates
        return self.updates

    def get_config(self):
        return self.optimizer.get_config()


class WhiteningNormalizer(object):
    """Mean and variance of all that has been seen."""

    def __init__(self, shape, eps=1e-2):
        self.eps, self._count = eps, 0
        self._sum, self._sumsq = np.zeros(shape), np.zeros(shape)

    def update(self, x):
        x = x.reshape(-1, *self._sum.shape)
        self._count += x.shape[0]
        self._sum += np.sum(x, axis=0)
        self._sumsq += np.sum(np.square(x), axis=0)

    def normalize(self, x):
        mean = self._sum / float(self._count)
        std = np.sqrt(np.maximum(self._sumsq / float(self._count) - mean ** 2, self.eps ** 2))
        return (x - mean) / std
