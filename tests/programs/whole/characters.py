"""A network of characters: layers of LSTM cells, trained on a text, saved, and asked for more."""
from __future__ import print_function

import json
import os
import tempfile

import numpy as np
import tensorflow as tf

TEXT = 'the cat sat on the mat and the dog sat on the log; ' * 8


class TextLoader(object):
    def __init__(self, text, batch_size, seq_length):
        self.chars = sorted(set(text))
        self.vocab = dict(zip(self.chars, range(len(self.chars))))
        data = np.array([self.vocab[c] for c in text])
        self.num_batches = len(data) // (batch_size * seq_length)
        data = data[:self.num_batches * batch_size * seq_length]
        target = np.copy(data)
        target[:-1], target[-1] = data[1:], data[0]
        self.x = np.split(data.reshape(batch_size, -1), self.num_batches, 1)
        self.y = np.split(target.reshape(batch_size, -1), self.num_batches, 1)


class Model(object):
    def __init__(self, vocab_size, rnn_size=12, num_layers=2, batch_size=3, seq_length=17,
                 training=True):
        if not training:
            batch_size, seq_length = 1, 1
        draw = np.random.RandomState(0)

        def start(shape, dtype=None, partition_info=None):
            return tf.constant(draw.uniform(-0.3, 0.3, [int(n) for n in shape]), dtype)

        def cell():
            lstm = tf.nn.rnn_cell.BasicLSTMCell(rnn_size)
            return tf.nn.rnn_cell.DropoutWrapper(lstm, output_keep_prob=self.keep_prob)

        self.keep_prob = tf.placeholder_with_default(1.0, shape=[])
        self.cell = tf.nn.rnn_cell.MultiRNNCell([cell() for _ in range(num_layers)])
        self.input_data = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.initial_state = self.cell.zero_state(batch_size, tf.float32)
        with tf.variable_scope('rnnlm', initializer=start):
            softmax_w = tf.get_variable('softmax_w', [rnn_size, vocab_size])
            softmax_b = tf.get_variable('softmax_b', [vocab_size])
            embedding = tf.get_variable('embedding', [vocab_size, rnn_size])
            inputs = tf.nn.embedding_lookup(embedding, self.input_data)
            outputs, self.final_state = tf.nn.dynamic_rnn(
                self.cell, inputs, initial_state=self.initial_state)
        output = tf.reshape(outputs, [-1, rnn_size])
        logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(logits)
        self.cost = tf.contrib.seq2seq.sequence_loss(
            tf.reshape(logits, [batch_size, seq_length, vocab_size]), self.targets,
            tf.ones([batch_size, seq_length]))
        if training:
            self.lr = tf.Variable(0.0, trainable=False)
            tvars = tf.trainable_variables()
            grads, self.norm = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), 5.0)
            optimizer = tf.train.AdamOptimizer(self.lr)
            self.train_op = optimizer.apply_gradients(zip(grads, tvars))


def train(loader, path):
    model, losses = Model(len(loader.chars)), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver(tf.global_variables())
        for epoch in range(3):
            sess.run(tf.assign(model.lr, 0.02 * (0.97 ** epoch)))
            state = sess.run(model.initial_state)
            for x, y in zip(loader.x, loader.y):
                feed = {model.input_data: x, model.targets: y}
                for i, (c, h) in enumerate(model.initial_state):
                    feed[c], feed[h] = state[i].c, state[i].h
                loss, state, _ = sess.run([model.cost, model.final_state, model.train_op], feed)
                losses.append(loss)
        saver.save(sess, path)
    names = sorted(v.name for v in tf.trainable_variables())
    return losses, names, state[1].h


def sample(loader, path, prime, count):
    model, found = Model(len(loader.chars), training=False), []
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        state = sess.run(model.initial_state)
        for char in prime[:-1]:
            feed = {model.input_data: [[loader.vocab[char]]], model.initial_state: state}
            state = sess.run(model.final_state, feed)
        at = loader.vocab[prime[-1]]
        for _ in range(count):
            feed = {model.input_data: [[at]], model.initial_state: state}
            probs, state = sess.run([model.probs, model.final_state], feed)
            at = int(np.argmax(probs[0]))
            found.append(at)
    return found, probs[0]


def main():
    loader = TextLoader(TEXT, 3, 17)
    path = os.path.join(tempfile.mkdtemp(), 'model.ckpt')
    with tf.Graph().as_default():
        losses, names, last = train(loader, path)
    with tf.Graph().as_default():
        letters, probs = sample(loader, path, 'the ', 12)
    assert names[1] == 'rnnlm/rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias:0', names
    return {'losses': losses, 'state': last, 'letters': letters, 'probabilities': probs}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
