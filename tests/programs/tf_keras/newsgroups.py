"""Texts by a tokenizer, convolutions and a recurrent layer both ways; the model through JSON."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow.keras.layers import (GRU, Bidirectional, Conv1D, Dense, Embedding,
                                     GlobalMaxPooling1D, Input, SpatialDropout1D, add)
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer

SUBJECTS = ['ball goal team player', 'star moon orbit rocket', 'chip code disk memory']


def main():
    rng = np.random.RandomState(6)
    labels = rng.randint(0, 3, 54)
    words = 'the a of and it'.split()
    texts = [' '.join(rng.permutation(SUBJECTS[k].split() + list(rng.choice(words, 4))))
             for k in labels]
    tokenizer = Tokenizer(num_words=30, oov_token='?')
    tokenizer.fit_on_texts(texts)
    x = pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=9, padding='post')
    y = tf.keras.utils.to_categorical(labels)

    inputs = Input(shape=(9,), dtype='int32')
    x1 = Embedding(31, 6, input_length=9, embeddings_regularizer=tf.keras.regularizers.l2(1e-3))(inputs)
    x1 = SpatialDropout1D(0.0)(x1)
    x1 = Bidirectional(GRU(3, return_sequences=True, kernel_constraint='max_norm'))(x1)
    x2 = Conv1D(6, 3, activation='relu', padding='same', dilation_rate=2)(x1)
    outputs = Dense(3, activation='softmax')(GlobalMaxPooling1D()(add([x1, x2])))
    model = tf.keras.Model(inputs, outputs)
    draw(model, size=0.4)
    model.compile('adam', tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1),
                  metrics=[tf.keras.metrics.TopKCategoricalAccuracy(k=2),
                           tf.keras.metrics.Precision(), tf.keras.metrics.Recall()])
    history = model.fit(x, y, batch_size=18, epochs=4, shuffle=False, verbose=0,
                        validation_split=1 / 3.)
    path = os.path.join(tempfile.mkdtemp(), 'weights.h5')
    model.save_weights(path)
    again = tf.keras.models.model_from_json(model.to_json())
    again.load_weights(path)
    values = [v for k, v in sorted(history.history.items())]
    return {
        'history': values,
        'predicted': again.predict(x[:3]),
        'index': [tokenizer.word_index[w] for w in ['?', 'the', 'star']],
    }
