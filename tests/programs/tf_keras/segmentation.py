"""A small U-Net with a Dice loss and the mean intersection over union; pictures by a generator."""
import numpy as np
from drawing import draw
from tensorflow.keras import backend as K
from tensorflow.keras.layers import (BatchNormalization, Conv2D, Conv2DTranspose, Cropping2D, Input,
                                     MaxPooling2D, concatenate)
from tensorflow.keras.metrics import MeanIoU
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adam
from tensorflow.keras.preprocessing.image import ImageDataGenerator


def dice_coef(y_true, y_pred, smooth=1.):
    y_true_f, y_pred_f = K.flatten(y_true), K.flatten(y_pred)
    intersection = K.sum(y_true_f * y_pred_f)
    return (2. * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


def dice_loss(y_true, y_pred):
    return 1. - dice_coef(y_true, y_pred)


def unet(shape):
    inputs = Input(shape)
    c1 = Conv2D(4, (3, 3), activation='relu', padding='same', kernel_initializer='he_normal')(inputs)
    c1 = BatchNormalization(axis=-1, fused=True)(c1)
    p1 = MaxPooling2D((2, 2))(c1)
    c2 = Conv2D(8, (3, 3), activation='relu', padding='same')(p1)
    u1 = Conv2DTranspose(4, (2, 2), strides=(2, 2), padding='same')(c2)
    u1 = concatenate([u1, c1], axis=3)
    c3 = Conv2D(4, (3, 3), activation='relu')(u1)
    c3 = concatenate([c3, Cropping2D(((1, 1), (1, 1)))(inputs)])
    return Model(inputs=[inputs], outputs=[Conv2D(1, (1, 1), activation='sigmoid')(c3)])


def main():
    rng = np.random.RandomState(9)
    x = rng.rand(16, 10, 10, 1).astype('float32')
    y = (x[:, 1:-1, 1:-1] > 0.5).astype('float32')
    model = unet((10, 10, 1))
    draw(model)
    model.compile(optimizer=Adam(lr=1e-2, clipvalue=0.5), loss=dice_loss,
                  metrics=[dice_coef, MeanIoU(num_classes=2)])
    generator = ImageDataGenerator(rescale=1.0).flow(x, y, batch_size=4, shuffle=False)
    history = model.fit_generator(generator, steps_per_epoch=4, epochs=3, verbose=0,
                                  shuffle=False, workers=0)
    found = model.evaluate(x, y, verbose=0, batch_size=8)
    return {
        'loss': history.history['loss'],
        'dice': history.history['dice_coef'],
        'evaluated': found,
        'predicted': model.predict(x[:1])[0, :2, :2, 0],
        'moving': model.get_layer('batch_normalization').get_weights()[3],
    }
