"""Writes the page of a large graph: ResNet-50's training step, as Keras 2.3.1 builds it, profiled.

`docs.building.screens` runs it by `kameleon run`, with the path of the page.
"""

from __future__ import annotations

import sys

import numpy as np
from keras.applications.resnet50 import ResNet50

SIDE, IMAGES, CLASSES = 64, 2, 1000

model = ResNet50(weights=None, input_shape=(SIDE, SIDE, 3), classes=CLASSES)
model.compile("sgd", "categorical_crossentropy")
images, labels = np.random.rand(IMAGES, SIDE, SIDE, 3), np.eye(CLASSES)[:IMAGES]
model.train_on_batch(images, labels)
step = model.train_function
step.explore(sys.argv[1], step.profile([images, labels, np.ones(IMAGES), 1]))
