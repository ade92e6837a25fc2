"""A classifier whose batches come of datasets: one iterator, initialised anew for each."""
from __future__ import print_function

import json

import numpy as np
import tensorflow as tf

CLASSES, SIZE, BATCH = 3, 6, 8


def digits(seed, count):
    draw = np.random.RandomState(seed)
    labels = draw.randint(0, CLASSES, count)
    images = draw.randint(0, 80, (count, SIZE, SIZE)).astype(np.uint8)
    for image, label in zip(images, labels):
        image[2 * label:2 * label + 2] += 150
    return images, labels


def _parse_function(image, label):
    image = tf.cast(image, tf.float32) / 255.0 - 0.5
    return tf.expand_dims(image, -1), tf.one_hot(label, CLASSES)


def input_fn(images, labels, training):
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(_parse_function, num_parallel_calls=2)
    if training:
        dataset = dataset.filter(lambda image, label: tf.reduce_mean(image) > -0.5).cache()
    return dataset.batch(BATCH).prefetch(1)


def conv_net(x, training):
    draw = np.random.RandomState(1)

    def start(shape, dtype=None, partition_info=None):
        return tf.constant(draw.normal(0, 0.2, [int(n) for n in shape]), dtype)

    with tf.variable_scope('net', initializer=start, reuse=tf.AUTO_REUSE):
        x = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, name='conv')
        x = tf.layers.max_pooling2d(x, 2, 2)
        x = tf.layers.flatten(x)
        x = tf.layers.dropout(x, 0.0, training=training)
        return tf.layers.dense(x, CLASSES, name='logits')


def main():
    train_images, train_labels = digits(0, 44)
    test_images, test_labels = digits(1, 20)
    images = tf.placeholder(tf.uint8, [None, SIZE, SIZE])
    labels = tf.placeholder(tf.int64, [None])
    train_data = input_fn(images, labels, True)
    test_data = input_fn(images, labels, False)
    iterator = tf.data.Iterator.from_structure(train_data.output_types, train_data.output_shapes)
    x, y = iterator.get_next()
    train_init = iterator.make_initializer(train_data)
    test_init = iterator.make_initializer(test_data)

    training = tf.placeholder_with_default(False, [])
    logits = conv_net(x, training)
    loss = tf.losses.softmax_cross_entropy(y, logits)
    right = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, global_step, 10, 0.9)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)

    losses, scores, sizes = [], [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(4):
            sess.run(train_init, feed_dict={images: train_images, labels: train_labels})
            while True:
                try:
                    _, value = sess.run([train_op, loss], feed_dict={training: True})
                    losses.append(value)
                except tf.errors.OutOfRangeError:
                    break
            sess.run(test_init, feed_dict={images: test_images, labels: test_labels})
            total = []
            try:
                while True:
                    value, count = sess.run([accuracy, tf.shape(x)[0]])
                    total.append(value * count)
                    sizes.append(count)
            except tf.errors.OutOfRangeError:
                scores.append(sum(total) / len(test_labels))
        steps = sess.run(global_step)
    pairs = tf.data.Dataset.zip((tf.data.Dataset.range(5), tf.data.Dataset.range(5, 10)))
    following = pairs.map(lambda a, b: a * b).repeat(2).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        products = [sess.run(following) for _ in range(10)]
    return {'losses': losses, 'scores': scores, 'sizes': sizes, 'steps': steps,
            'products': products}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
