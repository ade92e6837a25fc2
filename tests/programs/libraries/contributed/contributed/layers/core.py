from keras import activations, backend as K, constraints, initializers, regularizers
from keras.engine import InputSpec
from keras.layers import Layer


class CosineDense(Layer):
    """Dense, with the cosine of input and weights in place of their product."""

    def __init__(self, units, kernel_initializer='glorot_uniform', activation=None,
                 kernel_regularizer=None, kernel_constraint=None, bias_initializer='zeros',
                 use_bias=True, **kwargs):
        self.units, self.use_bias = units, use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.activation = activations.get(activation)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        super(CosineDense, self).__init__(**kwargs)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.input_spec = [InputSpec(dtype=K.floatx(), shape=(None, dim))]
        self.kernel = self.add_weight(
            shape=(dim, self.units), initializer=self.kernel_initializer,
            name='{}_W'.format(self.name), regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint)
        self.bias = self.add_weight(shape=(self.units,), initializer=self.bias_initializer,
                                    name='{}_b'.format(self.name)) if self.use_bias else None
        self.built = True

    def call(self, x, mask=None):
        b, xb = (self.bias, 1.) if self.use_bias else (0., 0.)
        xnorm = K.sqrt(K.sum(K.square(x), axis=-1, keepdims=True) + xb + K.epsilon())
        Wnorm = K.sqrt(K.sum(K.square(self.kernel), axis=0) + K.square(b) + K.epsilon())
        xWnorm = (xnorm * Wnorm)
        output = K.dot(x, self.kernel) / xWnorm
        if self.use_bias:
            output += (self.bias / xWnorm)
        return self.activation(output)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (self.units,)

    def get_config(self):
        config = {'units': self.units, 'use_bias': self.use_bias,
                  'kernel_initializer': initializers.serialize(self.kernel_initializer),
                  'activation': activations.serialize(self.activation),
                  'kernel_regularizer': regularizers.serialize(self.kernel_regularizer)}
        return dict(list(super(CosineDense, self).get_config().items()) + list(config.items()))
