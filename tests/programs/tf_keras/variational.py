"""A variational autoencoder: functions of TensorFlow between layers, `add_loss`, `add_metric`."""
import numpy as np
import tensorflow as tf
from drawing import draw
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input, Lambda, Layer
from tensorflow.keras.models import Model

original_dim, latent_dim = 10, 2


class Sampling(Layer):
    """Uses (z_mean, z_log_var, noise) to sample z."""

    def call(self, inputs):
        z_mean, z_log_var, noise = inputs
        return z_mean + tf.exp(0.5 * z_log_var) * noise


def main():
    rng = np.random.RandomState(3)
    x_train = rng.rand(64, original_dim).astype('float32')
    noise_train = rng.randn(64, latent_dim).astype('float32')

    inputs = Input(shape=(original_dim,), name='encoder_input')
    noise = Input(shape=(latent_dim,), name='noise')
    x = Dense(12, activation='relu')(inputs)
    z_mean = Dense(latent_dim, name='z_mean')(x)
    z_log_var = Dense(latent_dim, name='z_log_var')(x)
    z = Sampling()((z_mean, z_log_var, noise))
    encoder = Model([inputs, noise], [z_mean, z_log_var, z], name='encoder')

    latent = Input(shape=(latent_dim,), name='z_sampling')
    hidden = Dense(12)(latent)
    hidden = tf.nn.relu(hidden)
    outputs = Dense(original_dim, activation='sigmoid')(hidden)
    decoder = Model(latent, outputs, name='decoder')

    outputs = decoder(encoder([inputs, noise])[2])
    vae = Model([inputs, noise], outputs, name='vae')
    reconstruction = tf.keras.losses.mse(inputs, outputs) * original_dim
    kl = 1 + z_log_var - K.square(z_mean) - K.exp(z_log_var)
    kl = -0.5 * K.sum(kl, axis=-1)
    vae.add_loss(K.mean(reconstruction + kl))
    vae.add_metric(K.mean(kl), name='kl', aggregation='mean')
    draw(encoder)
    draw(decoder, seed=1)
    vae.compile(optimizer='adam')
    history = vae.fit([x_train, noise_train], epochs=3, batch_size=16, shuffle=False, verbose=0)
    scaled = Model(inputs, Lambda(lambda t: t * 2.0)(z_mean) - 1.0)
    return {
        'loss': history.history['loss'],
        'kl': history.history['kl'],
        'z': encoder.predict([x_train, noise_train])[2][:3],
        'decoded': decoder.predict(np.array([[0.3, -0.4]], 'float32')),
        'scaled': scaled.predict(x_train[:3]),
    }
