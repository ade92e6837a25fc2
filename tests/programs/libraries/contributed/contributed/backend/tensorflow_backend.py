import tensorflow as tf
from keras import backend as K
from keras.backend import tensorflow_backend as KTF
from keras.backend.tensorflow_backend import _to_tensor


def moments(x, axes, shift=None, keep_dims=False):
    """Mean and variance along axes."""
    return tf.nn.moments(x, axes, shift=shift, keep_dims=keep_dims)


def clip(x, min_value, max_value):
    if max_value is not None and max_value < min_value:
        max_value = min_value
    low, high = _to_tensor(min_value, x.dtype.base_dtype), _to_tensor(max_value, x.dtype.base_dtype)
    return tf.clip_by_value(x, low, high)


def depth_to_space(x, scale):
    if KTF.image_data_format() == 'channels_first':
        x = tf.transpose(x, (0, 2, 3, 1))
    return tf.depth_to_space(x, scale)


def viterbi(energies, transitions):
    """The best path: scores and best predecessors step by step, then back."""
    steps = tf.transpose(energies, [1, 0, 2])

    def forward(carried, energy):
        score, _ = carried
        total = tf.expand_dims(score, 2) + tf.expand_dims(transitions, 0)
        return tf.reduce_max(total, axis=1) + energy, tf.argmax(total, axis=1, output_type=tf.int32)

    start = steps[0], tf.zeros_like(steps[0], dtype=tf.int32)
    scores, back = tf.scan(forward, steps[1:], initializer=start)
    last = tf.argmax(scores[-1], axis=-1, output_type=tf.int32)
    classes = K.int_shape(energies)[-1]

    def backward(tag, pointers):
        return tf.reduce_sum(pointers * tf.one_hot(tag, classes, dtype=tf.int32), axis=-1)

    path = tf.scan(backward, tf.reverse(back, axis=[0]), initializer=last)
    path = tf.concat([tf.expand_dims(last, 0), path], axis=0)
    return tf.transpose(tf.reverse(path, [0]))
