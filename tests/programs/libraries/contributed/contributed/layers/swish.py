from keras import backend as K
from keras.layers import Layer

from .. import backend as KC


class Swish(Layer):
    def __init__(self, beta=1.0, trainable_beta=False, **kwargs):
        super(Swish, self).__init__(**kwargs)
        self.supports_masking, self.beta, self.trainable_beta = True, beta, trainable_beta

    def build(self, input_shape):
        self.scaling_factor = K.variable(
            self.beta, dtype=K.floatx(), name='scaling_factor')
        if self.trainable_beta:
            self._trainable_weights.append(self.scaling_factor)
        super(Swish, self).build(input_shape)

    def call(self, inputs, mask=None):
        return inputs * K.sigmoid(KC.clip(self.scaling_factor, 0., 10.) * inputs)

    def get_config(self):
        beta = K.get_value(self.scaling_factor) if self.built else self.beta
        base = super(Swish, self).get_config()
        return dict(base, beta=float(beta), trainable_beta=self.trainable_beta)


class SubPixelUpscaling(Layer):
    def __init__(self, scale_factor=2, **kwargs):
        super(SubPixelUpscaling, self).__init__(**kwargs)
        self.scale_factor = scale_factor

    def call(self, x, mask=None):
        return KC.depth_to_space(x, self.scale_factor)

    def compute_output_shape(self, s):
        k = self.scale_factor
        return (s[0], s[1] and s[1] * k, s[2] and s[2] * k, s[3] // (k ** 2))
