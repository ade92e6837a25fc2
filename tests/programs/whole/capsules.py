"""A small capsule network: squashing, dynamic routing, margin loss, a decoder behind a mask."""
import json

import keras.backend as K
import numpy as np
import tensorflow as tf
from keras import callbacks, initializers, layers, models, optimizers
from keras.utils import to_categorical

CLASSES, ROUTINGS = 4, 3


class Length(layers.Layer):
    def call(self, inputs, **kwargs):
        return K.sqrt(K.sum(K.square(inputs), -1) + K.epsilon())

    def compute_output_shape(self, input_shape):
        return input_shape[:-1]


class Mask(layers.Layer):
    """Keep one capsule: that of the label, or the longest."""

    def call(self, inputs, **kwargs):
        if type(inputs) is list:
            inputs, mask = inputs
        else:
            x = tf.sqrt(tf.reduce_sum(tf.square(inputs), -1))
            mask = K.one_hot(indices=K.argmax(x, 1), num_classes=x.get_shape().as_list()[1])
        return K.batch_flatten(inputs * K.expand_dims(mask, -1))

    def compute_output_shape(self, input_shape):
        if type(input_shape[0]) is tuple:
            return tuple([None, input_shape[0][1] * input_shape[0][2]])
        return tuple([None, input_shape[1] * input_shape[2]])


def squash(vectors, axis=-1):
    norm = tf.reduce_sum(tf.square(vectors), axis, keep_dims=True)
    return norm / (1 + norm) / tf.sqrt(norm + K.epsilon()) * vectors


class CapsuleLayer(layers.Layer):
    def __init__(self, num_capsule, dim_capsule, routings=3, **kwargs):
        super(CapsuleLayer, self).__init__(**kwargs)
        self.num_capsule, self.dim_capsule, self.routings = num_capsule, dim_capsule, routings
        self.kernel_initializer = initializers.get('glorot_uniform')

    def build(self, input_shape):
        assert len(input_shape) >= 3, "(None, input_num_capsule, input_dim_capsule) is wanted"
        self.input_num_capsule, self.input_dim_capsule = input_shape[1:]
        self.W = self.add_weight(
            shape=[self.num_capsule, input_shape[1], self.dim_capsule, input_shape[2]],
            initializer=self.kernel_initializer, name='W')
        self.built = True

    def call(self, inputs, training=None):
        inputs_tiled = K.expand_dims(K.expand_dims(inputs, 1), -1)
        inputs_tiled = K.tile(inputs_tiled, [1, self.num_capsule, 1, 1, 1])
        inputs_hat = K.map_fn(lambda x: tf.matmul(self.W, x), elems=inputs_tiled)
        inputs_hat = tf.squeeze(inputs_hat, axis=-1)
        b = tf.zeros(shape=[K.shape(inputs_hat)[0], self.num_capsule, self.input_num_capsule])
        for i in range(self.routings):
            c = tf.nn.softmax(b, dim=1)
            c = tf.expand_dims(c, 2)
            outputs = squash(tf.squeeze(tf.matmul(c, inputs_hat), axis=2))
            if i < self.routings - 1:
                b += tf.reduce_sum(inputs_hat * tf.expand_dims(outputs, 2), -1)
        return outputs

    def compute_output_shape(self, input_shape):
        return tuple([None, self.num_capsule, self.dim_capsule])


def routed_by_scan(u_hat, routings):
    """The same routing, as a scan that keeps each round's logits and outputs."""
    def step(carried, _):
        b, _ = carried
        c = tf.nn.softmax(b, axis=1)
        v = squash(tf.einsum('bji,bjid->bjd', c, u_hat))
        return b + tf.einsum('bjd,bjid->bji', v, u_hat), v
    start = tf.zeros_like(u_hat[..., 0]), tf.zeros_like(u_hat[:, :, 0])
    return tf.scan(step, tf.range(routings), initializer=start)


def margin_loss(y_true, y_pred):
    L = y_true * K.square(K.maximum(0., 0.9 - y_pred)) + \
        0.5 * (1 - y_true) * K.square(K.maximum(0., y_pred - 0.1))
    return K.mean(K.sum(L, 1))


def capsule_net():
    x = layers.Input(shape=(10, 10, 1))
    conv1 = layers.Conv2D(6, 3, activation='relu', name='conv1')(x)
    primary = layers.Conv2D(8, 3, strides=2, name='primarycap_conv2d')(conv1)
    primary = layers.Reshape(target_shape=[-1, 4], name='primarycap_reshape')(primary)
    primary = layers.Lambda(squash, name='primarycap_squash')(primary)
    digits = CapsuleLayer(CLASSES, 5, ROUTINGS, name='digitcaps')(primary)
    out = Length(name='capsnet')(digits)
    y = layers.Input(shape=(CLASSES,))
    decoder = models.Sequential(name='decoder')
    decoder.add(layers.Dense(12, activation='relu', input_dim=5 * CLASSES))
    decoder.add(layers.Dense(100, activation='sigmoid'))
    decoder.add(layers.Reshape((10, 10, 1), name='out_recon'))
    train = models.Model([x, y], [out, decoder(Mask()([digits, y]))])
    return train, models.Model(x, [out, decoder(Mask()(digits))])


def main():
    draw = np.random.RandomState(3)
    train, predict = capsule_net()
    train.set_weights([draw.normal(0, .3, w.shape) for w in train.get_weights()])
    labels = np.arange(16) % CLASSES
    x = draw.rand(16, 10, 10, 1) + (labels[:, None] == np.arange(10) // 3)[:, :, None, None]
    y = to_categorical(labels, CLASSES)
    train.compile(optimizer=optimizers.Adam(lr=0.01), loss=[margin_loss, 'mse'],
                  loss_weights=[1., .392], metrics={'capsnet': 'accuracy'})
    decay = callbacks.LearningRateScheduler(schedule=lambda epoch: 0.01 * (0.9 ** epoch))
    history = train.fit([x, y], [y, x], batch_size=8, epochs=3, shuffle=False, verbose=0,
                        callbacks=[decay]).history
    lengths, recon = predict.predict(x[:4])

    u_hat = tf.placeholder(tf.float32, shape=(None, CLASSES, 7, 5))
    logits, rounds = routed_by_scan(u_hat, ROUTINGS)
    grad, = tf.gradients(tf.reduce_sum(rounds[-1] ** 2), u_hat)
    with tf.Session() as sess:
        b, v, g = sess.run([logits, rounds, grad], {u_hat: draw.normal(size=(2, CLASSES, 7, 5))})
    return {'loss': history['loss'], 'capsnet_loss': history['capsnet_loss'], 'lengths': lengths,
            'recon': recon.mean((1, 2, 3)), 'scan_logits': b, 'scan_outputs': v, 'scan_grad': g}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
