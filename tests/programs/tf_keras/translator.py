"""Sequence to sequence by LSTMs with states, attention, and a decoder that is run step by step."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow.keras import backend as K
from tensorflow.keras.layers import (AdditiveAttention, Attention, Concatenate, Dense, Embedding,
                                     Input, LSTM, TimeDistributed)
from tensorflow.keras.models import Model

tokens, latent_dim, length = 12, 8, 5


def main():
    rng = np.random.RandomState(4)
    source = rng.randint(1, tokens, (40, length))
    target = np.concatenate([np.zeros((40, 1), int), source[:, ::-1]], axis=1)
    labels = np.concatenate([source[:, ::-1], np.zeros((40, 1), int)], axis=1)[..., None]

    encoder_inputs = Input(shape=(None,))
    embedded = Embedding(tokens, latent_dim, name='source')(encoder_inputs)
    encoder_outputs, state_h, state_c = LSTM(latent_dim, return_sequences=True,
                                             return_state=True, name='encoder')(embedded)
    states = [state_h, state_c]
    decoder_inputs = Input(shape=(None,))
    decoder_embedding = Embedding(tokens, latent_dim, name='target')
    decoder_lstm = LSTM(latent_dim, return_sequences=True, return_state=True, name='decoder')
    decoder_outputs, _, _ = decoder_lstm(decoder_embedding(decoder_inputs), initial_state=states)
    context = Attention(use_scale=True)([decoder_outputs, encoder_outputs])
    other = AdditiveAttention()([decoder_outputs, encoder_outputs])
    merged = Concatenate()([decoder_outputs, context, other])
    outputs = TimeDistributed(Dense(tokens, activation='softmax'))(merged)
    model = Model([encoder_inputs, decoder_inputs], outputs)
    draw(model)
    model.compile('nadam', loss='sparse_categorical_crossentropy', metrics=['accuracy'])
    history = model.fit([source, target], labels, batch_size=8, epochs=3, shuffle=False, verbose=0)

    encoder = Model(encoder_inputs, [encoder_outputs] + states)
    h_in, c_in = Input(shape=(latent_dim,)), Input(shape=(latent_dim,))
    step, h, c = decoder_lstm(decoder_embedding(decoder_inputs), initial_state=[h_in, c_in])
    decoder = Model([decoder_inputs, h_in, c_in], [step, h, c])
    memory, h_value, c_value = encoder.predict(source[:2])
    rows = []
    for t in range(3):
        out, h_value, c_value = decoder.predict([target[:2, t:t + 1], h_value, c_value])
        rows.append(out[:, 0].tolist())
    attended = K.function([encoder_inputs, decoder_inputs], [context])([source[:1], target[:1]])[0]
    return {
        'loss': history.history['loss'],
        'accuracy': history.history['acc'],
        'steps': rows,
        'attended': attended,
        'memory': memory[:, -1],
    }
