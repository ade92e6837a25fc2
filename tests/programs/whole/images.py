"""Images: group normalization, a variational autoencoder, style transfer, patches and blocks."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import initializers, metrics
from keras.layers import Conv2D, Dense, Flatten, InputSpec, Input, Lambda, Layer, Reshape
from keras.models import Model
from scipy.optimize import fmin_l_bfgs_b

SIZE, LATENT = 8, 3


class GroupNormalization(Layer):
    def __init__(self, groups=2, epsilon=1e-5, **kwargs):
        super(GroupNormalization, self).__init__(**kwargs)
        self.groups, self.epsilon, self.supports_masking = groups, epsilon, True

    def build(self, input_shape):
        dim = input_shape[-1]
        if dim is None or dim % self.groups:
            raise ValueError('Number of groups (%s) must divide the channels' % self.groups)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={-1: dim})
        self.gamma = self.add_weight(shape=(dim,), name='gamma', initializer='ones')
        self.beta = self.add_weight(shape=(dim,), name='beta', initializer='zeros')
        self.built = True

    def call(self, inputs):
        shape = tf.shape(inputs)
        N, H, W, C = [shape[i] for i in range(4)]
        x = tf.reshape(inputs, [N, H, W, self.groups, C // self.groups])
        mean, var = tf.nn.moments(x, [1, 2, 4], keep_dims=True)
        x = tf.reshape((x - mean) / tf.sqrt(var + self.epsilon), [N, H, W, C])
        x.set_shape(inputs.get_shape())
        return x * self.gamma + self.beta


class ResizeTo(Layer):
    """Bilinear interpolation to the size of another tensor, or to a given one."""

    def __init__(self, size, **kwargs):
        super(ResizeTo, self).__init__(**kwargs)
        self.size = tuple(size)

    def call(self, x):
        return tf.image.resize_images(x, self.size, align_corners=True)

    def compute_output_shape(self, s):
        return (s[0],) + self.size + (s[3],)


def space_to_depth(x):
    return tf.space_to_depth(x, block_size=2)


def autoencoder():
    x = Input((SIZE, SIZE, 4))
    eps = Input((LATENT,))
    h = Conv2D(4, 3, padding='same', name='conv1')(x)
    h = GroupNormalization(name='gn')(h)
    h = Lambda(lambda t: tf.nn.leaky_relu(t, alpha=.1))(h)
    h = Lambda(space_to_depth, output_shape=lambda s: (s[0], s[1] // 2, s[2] // 2, 4 * s[3]))(h)
    h = Flatten()(h)
    mean, log_var = Dense(LATENT)(h), Dense(LATENT)(h)
    z = Lambda(lambda a: a[0] + K.exp(a[1] / 2) * a[2])([mean, log_var, eps])
    d = Reshape((2, 2, 4))(Dense(16, activation='relu')(z))
    d = ResizeTo((SIZE, SIZE))(d)
    out = Conv2D(4, 3, padding='same', activation='sigmoid')(d)
    vae = Model([x, eps], out)
    entropy = SIZE * SIZE * metrics.binary_crossentropy(K.flatten(x), K.flatten(out))
    kl = -.5 * K.sum(1 + log_var - K.square(mean) - K.exp(log_var), axis=-1)
    vae.add_loss(K.mean(entropy + kl))
    return vae


def gram_matrix(x):
    features = K.batch_flatten(K.permute_dimensions(x, (2, 0, 1)))
    return K.dot(features, K.transpose(features))


def total_variation(x):
    a = K.square(x[:, :-1, :-1, :] - x[:, 1:, :-1, :])
    b = K.square(x[:, :-1, :-1, :] - x[:, :-1, 1:, :])
    return K.sum(K.pow(a + b, 1.25))


def transferred(draw):
    """Some rounds of L-BFGS on the image; the base, the style and the image in one batch."""
    base, style = K.variable(draw.rand(1, SIZE, SIZE, 3)), K.variable(draw.rand(1, SIZE, SIZE, 3))
    image = K.placeholder((1, SIZE, SIZE, 3))
    features = Conv2D(5, 3, activation='relu', input_shape=(SIZE, SIZE, 3), name='relu1_1')
    out = features(K.concatenate([base, style, image], axis=0))
    features.set_weights([draw.normal(0, .4, w.shape) for w in features.get_weights()])
    loss = K.variable(0.)
    loss = loss + .05 * K.sum(K.square(out[2] - out[0]))
    loss = loss + K.sum(K.square(gram_matrix(out[1]) - gram_matrix(out[2]))) / (
        4. * (5 ** 2) * (SIZE ** 4))
    loss = loss + .01 * total_variation(image)
    run = K.function([image], [loss] + K.gradients(loss, image))

    def both(x):
        value, slopes = run([x.reshape((1, SIZE, SIZE, 3))])
        return float(value), slopes.flatten().astype('float64')
    x, rounds = draw.rand(SIZE * SIZE * 3), []
    for _ in range(2):
        x, value, _ = fmin_l_bfgs_b(both, x, maxfun=4)
        rounds.append(value)
    return rounds


def operations(draw):
    x = tf.placeholder(tf.float32, [None, SIZE, SIZE, 2])
    patches = tf.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')
    flipped = tf.image.flip_left_right(x)
    small = tf.image.resize_images(x, [5, 3])
    nearest = tf.image.resize_nearest_neighbor(x, (12, 12))
    blocks = tf.depth_to_space(tf.space_to_depth(x, 4), 4)
    normal = tf.nn.lrn(x, depth_radius=1, bias=1., alpha=1e-1, beta=.75)
    pooled = tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    total = tf.add_n([tf.reduce_sum(t ** 2) for t in (patches, small, nearest, blocks, normal)])
    grid = tf.stack(tf.meshgrid(tf.linspace(0., 1., 3), tf.linspace(-1., 1., 2)), axis=-1)
    with tf.Session() as sess:
        return sess.run({'patches': patches, 'flipped': flipped, 'small': small, 'pooled': pooled,
                         'normal': normal, 'grid': grid, 'slopes': tf.gradients(total, x)[0],
                         'scattered': tf.scatter_nd([[1], [3], [1]], [1., 2., 3.], [4])},
                        {x: draw.rand(1, SIZE, SIZE, 2)})


def main():
    draw = np.random.RandomState(18)
    vae = autoencoder()
    vae.set_weights([draw.normal(0, .3, w.shape) if w.ndim > 1 else w for w in vae.get_weights()])
    vae.compile(optimizer='rmsprop', loss=None)
    x, eps = draw.rand(8, SIZE, SIZE, 4), draw.normal(size=(8, LATENT))
    history = vae.fit([x, eps], batch_size=4, epochs=3, shuffle=False, verbose=0).history
    result = {'vae': history['loss'], 'decoded': vae.predict([x, eps]).mean((1, 2)),
              'style': transferred(draw)}
    result.update(operations(draw))
    return result


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
