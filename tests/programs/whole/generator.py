"""A generator of text: an LSTM that keeps its state, temperature, and beam search."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import LSTM, Activation, Dense, Embedding, Input, TimeDistributed
from keras.models import Model, Sequential
from keras.optimizers import RMSprop

TEXT = ("the cat sat on the mat and the dog sat on the log "
        "while the rat ran to the hat and the cat ate the rat ")
CHARS = sorted(set(TEXT))
INDEX = {c: i for i, c in enumerate(CHARS)}
STEPS, BATCH, UNITS = 8, 4, 12


def build(batch_size, steps, stateful=True):
    model = Sequential()
    model.add(Embedding(len(CHARS), 6, batch_input_shape=(batch_size, steps)))
    model.add(LSTM(UNITS, return_sequences=True, stateful=stateful))
    model.add(TimeDistributed(Dense(len(CHARS))))
    model.add(Activation('softmax'))
    return model


def read_batches(ids):
    chunk = len(ids) // BATCH
    for start in range(0, chunk - STEPS, STEPS):
        x = np.stack([ids[b * chunk + start:][:STEPS] for b in range(BATCH)])
        y = np.stack([ids[b * chunk + start + 1:][:STEPS] for b in range(BATCH)])
        yield x, y[..., np.newaxis]


def sampled(logits, temperature, uniform):
    """Draw from a distribution that a temperature sharpens; the numbers are given."""
    logits = tf.log(logits + 1e-9) / temperature
    shifted = tf.exp(logits - tf.reduce_logsumexp(logits, axis=-1, keepdims=True))
    return tf.reduce_sum(tf.to_int32(tf.cumsum(shifted, axis=-1) < uniform), axis=-1)


def generate(weights, seed, length, draw):
    model = build(1, 1)
    model.set_weights(weights)
    probs = K.placeholder((None, len(CHARS)))
    uniform, temperature = tf.placeholder(tf.float32, []), tf.placeholder_with_default(.7, [])
    choice = sampled(probs, temperature, uniform)
    with K.get_session().as_default():
        for c in seed[:-1]:
            model.predict(np.array([[INDEX[c]]]))
        text = seed
        for _ in range(length):
            p = model.predict(np.array([[INDEX[text[-1]]]]))[0]
            found = choice.eval({probs: p, uniform: draw.rand()})
            text += CHARS[min(int(found[0]), len(CHARS) - 1)]
    model.reset_states()
    return text


class BeamDecoder(object):
    """Steps of the LSTM with its state as inputs and outputs; a beam in one batch."""

    def __init__(self, weights, width=3):
        ids, h, c = Input((1,)), Input((UNITS,)), Input((UNITS,))
        x = Embedding(len(CHARS), 6)(ids)
        x, h_, c_ = LSTM(UNITS, return_state=True)(x, initial_state=[h, c])
        out = Dense(len(CHARS), activation='softmax')(x)
        self.model, self.width = Model([ids, h, c], [out, h_, c_]), width
        self.model.set_weights(weights)
        scores = tf.placeholder(tf.float32, [None, 1])
        probs = tf.placeholder(tf.float32, [None, len(CHARS)])
        total = tf.reshape(scores + tf.log(probs), [-1])
        top, flat = tf.nn.top_k(total, k=self.width)
        parents, tokens = flat // len(CHARS), tf.mod(flat, len(CHARS))
        self.ins, self.outs = (scores, probs), (top, parents, tokens)

    def search(self, first, length):
        session = K.get_session()
        tokens, sequences = np.array([[INDEX[first]]]), [[INDEX[first]]]
        h, c, scores = np.zeros((1, UNITS)), np.zeros((1, UNITS)), np.zeros((1, 1))
        for _ in range(length):
            p, h, c = self.model.predict([tokens, h, c])
            scores, parents, tokens = session.run(self.outs, dict(zip(self.ins, (scores, p))))
            sequences = [sequences[i] + [t] for i, t in zip(parents, tokens)]
            h, c, scores, tokens = h[parents], c[parents], scores[:, None], tokens[:, None]
        return sequences, scores[:, 0]


def perplexity(y_true, y_pred):
    return K.exp(K.mean(K.sparse_categorical_crossentropy(y_true, y_pred)))


def main():
    draw = np.random.RandomState(10)
    model = build(BATCH, STEPS)
    model.set_weights([draw.normal(0, .3, w.shape) for w in model.get_weights()])
    model.compile(loss='sparse_categorical_crossentropy', optimizer=RMSprop(lr=.02, clipnorm=1.),
                  metrics=[perplexity])
    ids = np.array([INDEX[c] for c in TEXT])
    losses = []
    for _ in range(6):
        losses.append([model.train_on_batch(x, y) for x, y in read_batches(ids)])
        model.reset_states()
    weights = model.get_weights()
    text = generate(weights, 'the ', 24, np.random.RandomState(11))
    sequences, scores = BeamDecoder(weights).search('t', 10)
    print(text, '|', ''.join(CHARS[i] for i in sequences[0]))
    return {'losses': losses, 'text': [INDEX[c] for c in text], 'beams': sequences,
            'scores': scores}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
