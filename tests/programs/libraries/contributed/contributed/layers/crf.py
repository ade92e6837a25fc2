from keras import backend as K
from keras import initializers, losses, regularizers
from keras.layers import InputSpec, Layer

from .. import backend as KC


def crf_loss(y_true, y_pred):
    """The negative log-likelihood of the last CRF."""
    crf, idx = y_pred._keras_history[:2]
    if crf._outbound_nodes:
        raise TypeError('The CRF must be the last layer.')
    return crf.negative_log_likelihood(y_true)


def crf_accuracy(y_true, y_pred):
    crf, idx = y_pred._keras_history[:2]
    path = crf.decoded
    return K.mean(K.cast(K.equal(K.argmax(y_true, -1), K.cast(path, 'int64')), K.floatx()))


class CRF(Layer):
    """A linear chain: in training softmax of the energies, in testing the best path."""

    def __init__(self, units, kernel_initializer='glorot_uniform', chain_regularizer=None, **kwargs):
        super(CRF, self).__init__(**kwargs)
        self.units, self.supports_masking = units, True
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.chain_regularizer = regularizers.get(chain_regularizer)

    def build(self, input_shape):
        self.input_spec = [InputSpec(shape=tuple(input_shape))]
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name='kernel',
                                      initializer=self.kernel_initializer)
        self.chain_kernel = self.add_weight(
            shape=(self.units, self.units), name='chain_kernel',
            initializer=self.kernel_initializer, regularizer=self.chain_regularizer)
        self.bias = self.add_weight(shape=(self.units,), name='bias', initializer='zeros')
        self.built = True

    def call(self, X, mask=None):
        self.energies = K.dot(X, self.kernel) + self.bias
        self.mask = None if mask is None else K.cast(mask, K.floatx())
        self.decoded = KC.viterbi(self.energies, self.chain_kernel)
        best = K.one_hot(self.decoded, self.units)
        output = K.in_train_phase(K.softmax(self.energies), best)
        output._uses_learning_phase = True
        return output

    def compute_mask(self, input, mask=None):
        return mask

    def compute_output_shape(self, input_shape):
        return input_shape[:2] + (self.units,)

    def log_normalizer(self):
        """log of the sum over all paths, by a recurrence."""
        chain = K.expand_dims(self.chain_kernel, 0)

        def step(energy, states):
            before, t = states[0], states[1]
            if K.ndim(energy) > 2:
                raise ValueError(K.int_shape(energy))
            after = K.logsumexp(K.expand_dims(before, 2) + states[2], axis=1) + energy
            after = K.switch(K.greater(t[0, 0], 0), after, energy)
            return after, [after, t + 1]
        zeros = K.zeros_like(self.energies[:, 0])
        last, _, _ = K.rnn(step, self.energies, [zeros, K.cast(zeros, 'int32')], constants=[chain],
                           input_length=K.int_shape(self.energies)[1], unroll=False)
        return K.logsumexp(last, axis=-1)

    def negative_log_likelihood(self, y_true):
        own = K.sum(K.sum(self.energies * y_true, 2), 1)
        pairs = K.dot(y_true[:, :-1], self.chain_kernel) * y_true[:, 1:]
        return self.log_normalizer() - own - K.sum(K.sum(pairs, 2), 1)

    @property
    def loss_function(self):
        return crf_loss

    def get_config(self):
        config = {'units': self.units,
                  'kernel_initializer': initializers.serialize(self.kernel_initializer),
                  'chain_regularizer': regularizers.serialize(self.chain_regularizer)}
        return dict(list(super(CRF, self).get_config().items()) + list(config.items()))
