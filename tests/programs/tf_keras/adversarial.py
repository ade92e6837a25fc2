"""A generative adversarial network by train_on_batch, with the discriminator frozen in between."""
import numpy as np
from drawing import draw
from tensorflow.keras.layers import (BatchNormalization, Conv2D, Conv2DTranspose, Dense, Dropout,
                                     Flatten, Input, LeakyReLU, Reshape, UpSampling2D, ZeroPadding2D)
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.optimizers import Adam


class GAN():
    def __init__(self):
        self.shape = (8, 8, 1)
        self.latent_dim = 5
        optimizer = Adam(0.002, 0.5)
        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss='binary_crossentropy', optimizer=optimizer,
                                   metrics=['accuracy'])
        self.generator = self.build_generator()
        z = Input(shape=(self.latent_dim,))
        img = self.generator(z)
        self.discriminator.trainable = False
        valid = self.discriminator(img)
        self.combined = Model(z, valid)
        self.combined.compile(loss='binary_crossentropy', optimizer=Adam(0.002, 0.5))

    def build_generator(self):
        model = Sequential()
        model.add(Dense(4 * 2 * 2, activation='relu', input_dim=self.latent_dim))
        model.add(Reshape((2, 2, 4)))
        model.add(UpSampling2D())
        model.add(Conv2D(4, kernel_size=3, padding='same', use_bias=False))
        model.add(BatchNormalization(momentum=0.8))
        model.add(LeakyReLU(alpha=0.2))
        model.add(Conv2DTranspose(1, 4, strides=2, padding='same', activation='tanh'))
        draw(model, 1)
        noise = Input(shape=(self.latent_dim,))
        return Model(noise, model(noise))

    def build_discriminator(self):
        model = Sequential([
            Conv2D(4, kernel_size=3, strides=2, input_shape=self.shape, padding='same'),
            LeakyReLU(alpha=0.2),
            ZeroPadding2D(padding=((0, 1), (0, 1))),
            BatchNormalization(momentum=0.8),
            Dropout(0.0),
            Flatten(),
            Dense(1, activation='sigmoid'),
        ])
        draw(model, 2)
        img = Input(shape=self.shape)
        return Model(img, model(img))


def main():
    gan = GAN()
    rng = np.random.RandomState(3)
    real = np.tanh(rng.randn(32, 8, 8, 1)).astype('float32')
    ones, zeros = np.ones((8, 1)), np.zeros((8, 1))
    d_losses, g_losses = [], []
    for epoch in range(6):
        imgs = real[rng.randint(0, 32, 8)]
        noise = rng.normal(0, 1, (8, gan.latent_dim))
        fake = gan.generator.predict(noise)
        loss_real = gan.discriminator.train_on_batch(imgs, ones)
        loss_fake = gan.discriminator.train_on_batch(fake, zeros)
        d_losses.append((0.5 * np.add(loss_real, loss_fake)).tolist())
        g_losses.append(float(gan.combined.train_on_batch(noise, ones)))
    return {
        'd': d_losses,
        'g': g_losses,
        'made': gan.generator.predict(np.ones((1, gan.latent_dim)))[0, :2, :2, 0],
        'trained': len(gan.combined.trainable_weights),
    }
