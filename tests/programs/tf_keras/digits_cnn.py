"""A small convolutional network on pictures of digits, as tutorials of TensorFlow 1.13 to 1.15."""
import numpy as np
from drawing import draw
from tensorflow.keras.datasets import mnist  # noqa: F401 (not fetched here)
from tensorflow.keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adadelta
from tensorflow.keras.utils import to_categorical

batch_size = 16
num_classes = 4


def pictures(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, num_classes, count)
    images = rng.rand(count, 12, 12, 1).astype('float32') * 0.3
    for image, label in zip(images, labels):
        image[3 * label:3 * label + 3, 2:9, 0] += 0.7
    return images, labels


def main():
    x_train, y_train = pictures(96, 1)
    x_test, y_test = pictures(32, 2)
    y_train = to_categorical(y_train, num_classes)
    y_test = to_categorical(y_test, num_classes)

    model = Sequential()
    model.add(Conv2D(8, kernel_size=(3, 3), activation='relu', input_shape=(12, 12, 1)))
    model.add(BatchNormalization())
    model.add(Conv2D(8, (3, 3), activation='relu'))
    model.add(MaxPooling2D(pool_size=(2, 2)))
    model.add(Dropout(0.0))
    model.add(Flatten())
    model.add(Dense(16, activation='relu'))
    model.add(BatchNormalization(momentum=0.8))
    model.add(Dense(num_classes, activation='softmax'))
    draw(model)
    model.compile(loss='categorical_crossentropy', optimizer=Adadelta(lr=1.0), metrics=['accuracy'])
    history = model.fit(x_train, y_train, batch_size=batch_size, epochs=3, verbose=0,
                        shuffle=False, validation_data=(x_test, y_test))
    score = model.evaluate(x_test, y_test, verbose=0)
    first = model.predict(x_test)[:3]
    return {
        'loss': history.history['loss'],
        'acc': history.history['acc'],
        'val_acc': history.history['val_acc'],
        'score': score,
        'first': first,
        'classes': model.predict_classes(x_test),
        'moving': model.layers[1].get_weights()[3],
    }
