"""Metrics: NumPy's by tf.py_func, streaming ones with local variables, and one kept by a callback."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.callbacks import Callback
from keras.layers import Dense
from keras.models import Sequential


def roc_auc(y_true, y_score):
    """The area under the curve by ranks, ties in halves; as sklearn gives it."""
    y_true, y_score = np.ravel(y_true) > .5, np.ravel(y_score)
    if y_true.all() or not y_true.any():
        return np.float64(.5)
    order = np.argsort(y_score, kind='mergesort')
    ranks = np.empty(len(y_score))
    ranks[order] = np.arange(1, len(y_score) + 1)
    for value in np.unique(y_score):
        ranks[y_score == value] = ranks[y_score == value].mean()
    positive = y_true.sum()
    area = ranks[y_true].sum() - positive * (positive + 1) / 2.
    return np.float64(area / (positive * (~y_true).sum()))


def auroc(y_true, y_pred):
    return tf.py_func(roc_auc, (y_true, y_pred), tf.double)


def mean_iou(y_true, y_pred):
    """Intersection over union in NumPy, at several thresholds."""
    def found(t, p):
        scores = [np.sum((t > .5) & (p > c)) / max(1., np.sum((t > .5) | (p > c)))
                  for c in np.arange(.3, .8, .1)]
        return np.array(np.mean(scores), dtype=np.float32)
    score = tf.py_func(found, [y_true, y_pred], tf.float32)
    score.set_shape(())
    return score


def as_keras_metric(method):
    """A streaming metric of TensorFlow's: its variables are local, and initialised at once."""
    def wrapper(y_true, y_pred, **kwargs):
        value, update_op = method(y_true, y_pred, **kwargs)
        K.get_session().run(tf.local_variables_initializer())
        with tf.control_dependencies([update_op]):
            value = tf.identity(value)
        return value
    wrapper.__name__ = method.__name__
    return wrapper


def streaming_precision(y_true, y_pred):
    _, update_op = tf.metrics.precision(y_true, tf.round(y_pred), name='precision_at_half')
    wanted = [v for v in tf.local_variables() if 'precision_at_half' in v.name]
    for v in wanted:
        tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, v)
    K.get_session().run(tf.variables_initializer(wanted))
    return update_op


def recall(y_true, y_pred):
    possible = K.sum(K.round(K.clip(y_true, 0, 1)))
    return K.sum(K.round(K.clip(y_true * y_pred, 0, 1))) / (possible + K.epsilon())


def f1(y_true, y_pred):
    p = K.sum(K.round(K.clip(y_true * y_pred, 0, 1))) / (
        K.sum(K.round(K.clip(y_pred, 0, 1))) + K.epsilon())
    r = recall(y_true, y_pred)
    return 2 * p * r / (p + r + K.epsilon())


def focal_loss(gamma=2., alpha=.25):
    def fixed(y_true, y_pred):
        pt_1 = tf.where(tf.equal(y_true, 1), y_pred, tf.ones_like(y_pred))
        pt_0 = tf.where(tf.equal(y_true, 0), y_pred, tf.zeros_like(y_pred))
        return -K.sum(alpha * K.pow(1. - pt_1, gamma) * K.log(K.epsilon() + pt_1)) - \
            K.sum((1 - alpha) * K.pow(pt_0, gamma) * K.log(1. - pt_0 + K.epsilon()))
    return fixed


class RocCallback(Callback):
    def __init__(self, x, y):
        super(RocCallback, self).__init__()
        self.x, self.y, self.areas = x, y, []

    def on_epoch_end(self, epoch, logs={}):
        self.areas.append(roc_auc(self.y, self.model.predict(self.x)))
        logs['val_auc'] = self.areas[-1]


def streaming(draw):
    """TensorFlow's metrics in a session, by batches."""
    with tf.Graph().as_default():
        labels, values = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
        metrics = {
            'accuracy': tf.metrics.accuracy(labels, tf.cast(values > .5, tf.int64)),
            'mean': tf.metrics.mean(values),
            'recall': tf.metrics.recall(labels, values > .5),
            'iou': tf.metrics.mean_iou(labels, tf.cast(values > .5, tf.int64), 2),
            'auc': tf.metrics.auc(labels, values, num_thresholds=20),
        }
        names = sorted(metrics)
        updates = tf.group(*[metrics[name][1] for name in names])
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found = []
            for _ in range(3):
                sess.run(updates, {labels: draw.randint(0, 2, 12), values: draw.rand(12)})
                found.append(sess.run([metrics[name][0] for name in names]))
            return found


def main():
    draw = np.random.RandomState(17)
    x = draw.normal(size=(48, 4))
    y = (x[:, :1] + .5 * x[:, 1:2] > 0).astype('float32')
    model = Sequential([Dense(6, activation='relu', input_shape=(4,)),
                        Dense(1, activation='sigmoid')])
    model.set_weights([draw.normal(0, .5, w.shape) for w in model.get_weights()])
    model.compile('sgd', focal_loss(), metrics=[
        auroc, mean_iou, recall, f1, streaming_precision, as_keras_metric(tf.metrics.recall)])
    callback = RocCallback(x, y)
    history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0,
                        validation_data=(x[:20], y[:20]), callbacks=[callback]).history
    result = {name: history[name] for name in ('loss', 'auroc', 'mean_iou', 'f1', 'val_auroc')}
    result.update({'precision': history['streaming_precision'], 'areas': callback.areas,
                   'val_auc': history['val_auc'],
                   'streaming': streaming(draw), 'names': len(tf.local_variables())})
    return result


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
