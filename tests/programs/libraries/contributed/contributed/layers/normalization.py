from keras import backend as K
from keras.layers import InputSpec, Layer

from .. import backend as KC


class InstanceNormalization(Layer):
    """Each sample, or each of its channels, has mean 0 and variance 1."""

    def __init__(self, axis=None, epsilon=1e-3, scale=True, **kwargs):
        super(InstanceNormalization, self).__init__(**kwargs)
        self.supports_masking = True
        self.axis, self.epsilon, self.scale = axis, epsilon, scale

    def build(self, input_shape):
        ndim = len(input_shape)
        if self.axis == 0:
            raise ValueError('Axis cannot be zero')
        if (self.axis is not None) and (ndim == 2):
            raise ValueError('Cannot specify axis for rank 1 tensor')
        self.input_spec = InputSpec(ndim=ndim)
        shape = (1,) if self.axis is None else (input_shape[self.axis],)
        self.gamma = self.add_weight(shape=shape, name='gamma', initializer='ones')
        self.beta = self.add_weight(shape=shape, name='beta', initializer='zeros')
        self.built = True

    def call(self, inputs, training=None):
        input_shape = K.int_shape(inputs)
        axes = list(range(len(input_shape)))
        if self.axis is not None:
            del axes[self.axis]
        del axes[0]
        mean, variance = KC.moments(inputs, axes, keep_dims=True)
        normed = (inputs - mean) / (K.sqrt(variance) + self.epsilon)
        broadcast = [1] * len(input_shape)
        if self.axis is not None:
            broadcast[self.axis] = input_shape[self.axis]
        if self.scale:
            normed = normed * K.reshape(self.gamma, broadcast)
        return normed + K.reshape(self.beta, broadcast)

    def get_config(self):
        config = {'axis': self.axis, 'epsilon': self.epsilon, 'scale': self.scale}
        base = super(InstanceNormalization, self).get_config()
        return dict(list(base.items()) + list(config.items()))
