import itertools
import os

import numpy as np
import pytest
from keras import backend as K
from keras.layers import Embedding
from keras.models import Sequential, load_model
from keras.optimizers import RMSprop
from numpy.testing import assert_allclose

from contributed.layers import CRF, crf_accuracy, crf_loss

WORDS, STEPS, TAGS = 7, 4, 3


def made():
    draw = np.random.RandomState(0)
    model = Sequential([Embedding(WORDS, 5, input_length=STEPS), CRF(TAGS, name='crf')])
    model.set_weights([draw.normal(0, .7, w.shape) for w in model.get_weights()])
    x = draw.randint(0, WORDS, (6, STEPS))
    return model, x, np.eye(TAGS)[(x + x[:, ::-1]) % TAGS]


def scores(model, x):
    """The score of each path, in NumPy."""
    table, kernel, chain, bias = model.get_weights()
    energies = table[x].dot(kernel) + bias
    paths = list(itertools.product(range(TAGS), repeat=STEPS))
    found = [[sum(e[t, p[t]] for t in range(STEPS)) + sum(chain[a, b] for a, b in zip(p, p[1:]))
              for p in paths] for e in energies]
    return np.array(found), np.array(paths)


def test_likelihood():
    model, x, y = made()
    model.compile('sgd', loss=crf_loss, metrics=[crf_accuracy])
    totals, paths = scores(model, x)
    tags = np.argmax(y, -1)
    own = [totals[i, np.all(paths == tags[i], axis=1)][0] for i in range(len(x))]
    expected = np.mean(np.log(np.exp(totals).sum(1)) - own)
    assert_allclose(model.evaluate(x, y, verbose=0)[0], expected, rtol=1e-5)


def test_best_path():
    model, x, _ = made()
    totals, paths = scores(model, x)
    found = np.argmax(model.predict(x), -1)
    assert (found == paths[np.argmax(totals, 1)]).all()


def test_training(tmpdir):
    model, x, y = made()
    model.compile(RMSprop(.05), loss=crf_loss, metrics=[crf_accuracy])
    before = model.evaluate(x, y, verbose=0)
    model.fit(x, y, epochs=20, verbose=0)
    after = model.evaluate(x, y, verbose=0)
    assert after[0] < before[0] and after[1] >= before[1]
    path = os.path.join(str(tmpdir), 'crf.h5')
    model.save(path)
    objects = {'CRF': CRF, 'crf_loss': crf_loss, 'crf_accuracy': crf_accuracy}
    again = load_model(path, custom_objects=objects)
    assert_allclose(again.predict(x), model.predict(x))
    K.clear_session()


def test_only_the_last():
    model, x, y = made()
    model.add(CRF(TAGS))
    with pytest.raises(TypeError):
        crf_loss(None, model.layers[1].output)
