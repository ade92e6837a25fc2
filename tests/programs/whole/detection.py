"""A one-stage detector: head, loss with an ignore mask per image, training and evaluation."""
import json

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Input, Lambda, LeakyReLU
from keras.models import Model
from keras.optimizers import SGD

ANCHORS = np.array([[10., 14.], [23., 27.], [37., 58.]])
CLASSES, SIZE, GRID, BATCH = 2, 32, 4, 3


def body():
    image = Input(shape=(None, None, 3))
    x = image
    for filters in (6, 8, 8):
        x = Conv2D(filters, 3, strides=2, padding='same', use_bias=False)(x)
        x = BatchNormalization()(x)
        x = LeakyReLU(alpha=0.1)(x)
    return Model(image, Conv2D(len(ANCHORS) * (CLASSES + 5), 1)(x))


def head(feats, anchors, input_shape, calc_loss=False):
    num = len(anchors)
    anchors = K.reshape(K.constant(anchors), [1, 1, 1, num, 2])
    grid_shape = K.shape(feats)[1:3]
    grid_y = K.tile(K.reshape(K.arange(0, stop=grid_shape[0]), [-1, 1, 1, 1]),
                    [1, grid_shape[1], 1, 1])
    grid_x = K.tile(K.reshape(K.arange(0, stop=grid_shape[1]), [1, -1, 1, 1]),
                    [grid_shape[0], 1, 1, 1])
    grid = K.cast(K.concatenate([grid_x, grid_y]), K.dtype(feats))
    feats = K.reshape(feats, [-1, grid_shape[0], grid_shape[1], num, CLASSES + 5])
    xy = (K.sigmoid(feats[..., :2]) + grid) / K.cast(grid_shape[::-1], K.dtype(feats))
    wh = K.exp(feats[..., 2:4]) * anchors / K.cast(input_shape[::-1], K.dtype(feats))
    if calc_loss:
        return grid, feats, xy, wh
    return xy, wh, K.sigmoid(feats[..., 4:5]), K.sigmoid(feats[..., 5:])


def box_iou(b1, b2):
    b1, b2 = K.expand_dims(b1, -2), K.expand_dims(b2, 0)
    low1, high1 = b1[..., :2] - b1[..., 2:4] / 2., b1[..., :2] + b1[..., 2:4] / 2.
    low2, high2 = b2[..., :2] - b2[..., 2:4] / 2., b2[..., :2] + b2[..., 2:4] / 2.
    overlap = K.maximum(K.minimum(high1, high2) - K.maximum(low1, low2), 0.)
    inter = overlap[..., 0] * overlap[..., 1]
    area1, area2 = b1[..., 2] * b1[..., 3], b2[..., 2] * b2[..., 3]
    return inter / (area1 + area2 - inter)


def detection_loss(args, ignore_thresh=.5):
    output, y_true = args
    input_shape = K.cast(K.shape(output)[1:3] * 8, K.dtype(y_true))
    m = K.shape(output)[0]
    mf = K.cast(m, K.dtype(output))
    object_mask, true_class = y_true[..., 4:5], y_true[..., 5:]
    grid, raw, xy, wh = head(output, ANCHORS, input_shape, calc_loss=True)
    box = K.concatenate([xy, wh])

    raw_true_xy = y_true[..., :2] * K.cast(K.shape(output)[1:3][::-1], 'float32') - grid
    raw_true_wh = K.log(y_true[..., 2:4] / ANCHORS * input_shape[::-1])
    raw_true_wh = K.switch(object_mask, raw_true_wh, K.zeros_like(raw_true_wh))
    scale = 2 - y_true[..., 2:3] * y_true[..., 3:4]

    ignore_mask = tf.TensorArray(K.dtype(y_true), size=1, dynamic_size=True)
    object_mask_bool = K.cast(object_mask, 'bool')

    def loop_body(b, ignore_mask):
        true_box = tf.boolean_mask(y_true[b, ..., 0:4], object_mask_bool[b, ..., 0])
        best_iou = K.max(box_iou(box[b], true_box), axis=-1)
        return b + 1, ignore_mask.write(b, K.cast(best_iou < ignore_thresh, K.dtype(true_box)))

    _, ignore_mask = tf.while_loop(
        lambda b, *args: b < m, loop_body, [0, ignore_mask])
    ignore_mask = K.expand_dims(ignore_mask.stack(), -1)

    xy_loss = object_mask * scale * K.binary_crossentropy(
        raw_true_xy, raw[..., 0:2], from_logits=True)
    wh_loss = object_mask * scale * 0.5 * K.square(raw_true_wh - raw[..., 2:4])
    crossed = K.binary_crossentropy(object_mask, raw[..., 4:5], from_logits=True)
    confidence = object_mask * crossed + (1 - object_mask) * crossed * ignore_mask
    classes = object_mask * K.binary_crossentropy(true_class, raw[..., 5:], from_logits=True)
    loss = sum(K.sum(part) / mf for part in (xy_loss, wh_loss, confidence, classes))
    return tf.Print(loss, [loss, K.sum(ignore_mask)], message='loss: ', first_n=0)


def evaluate(output, image_shape, max_boxes=5, score_threshold=.3, iou_threshold=.4):
    xy, wh, confidence, probs = head(output, ANCHORS, K.shape(output)[1:3] * 8)
    yx, hw = xy[..., ::-1], wh[..., ::-1]
    boxes = K.concatenate([yx - hw / 2., yx + hw / 2.])
    boxes *= K.concatenate([image_shape, image_shape])
    boxes, scores = K.reshape(boxes, [-1, 4]), K.reshape(confidence * probs, [-1, CLASSES])
    mask = scores >= score_threshold
    found_boxes, found_scores, found_classes = [], [], []
    for c in range(CLASSES):
        class_boxes = tf.boolean_mask(boxes, mask[:, c])
        class_scores = tf.boolean_mask(scores[:, c], mask[:, c])
        kept = tf.image.non_max_suppression(
            class_boxes, class_scores, K.constant(max_boxes, dtype='int32'),
            iou_threshold=iou_threshold)
        found_boxes.append(K.gather(class_boxes, kept))
        found_scores.append(K.gather(class_scores, kept))
        found_classes.append(K.ones_like(found_scores[-1], 'int32') * c)
    return [K.concatenate(a, axis=0) for a in (found_boxes, found_scores, found_classes)]


def data(draw):
    images = draw.rand(BATCH, SIZE, SIZE, 3)
    y = np.zeros((BATCH, GRID, GRID, len(ANCHORS), 5 + CLASSES), 'float32')
    for b in range(BATCH):
        for k in range(b + 1):
            (i, j), (w, h) = draw.randint(0, GRID, 2), draw.uniform(.2, .8, 2)
            center = [(j + draw.rand()) / GRID, (i + draw.rand()) / GRID]
            y[b, i, j, k % 3, :5] = center + [w, h, 1.]
            y[b, i, j, k % 3, 5 + draw.randint(CLASSES)] = 1.
    return images, y


def main():
    draw = np.random.RandomState(0)
    detector = body()
    detector.set_weights([
        np.abs(w) if w.ndim == 1 else draw.normal(0, 1.2 / np.sqrt(np.prod(w.shape[:-1])), w.shape)
        for w in detector.get_weights()])
    for layer in detector.layers:  # the statistics are those of the first training
        layer.trainable = not isinstance(layer, BatchNormalization)
    y_true = Input(shape=(GRID, GRID, len(ANCHORS), CLASSES + 5))
    loss = Lambda(detection_loss, output_shape=(1,), name='yolo_loss',
                  arguments={'ignore_thresh': .3})([detector.output, y_true])
    model = Model([detector.input, y_true], loss)
    model.compile(optimizer=SGD(lr=1e-3, momentum=.9, clipnorm=1.), loss={'yolo_loss': lambda y_true, y_pred: y_pred})
    images, boxes = data(draw)
    losses = [model.train_on_batch([images, boxes], np.zeros(BATCH)) for _ in range(8)]

    image_shape = K.placeholder(shape=(2,))
    found = evaluate(detector.output, image_shape)
    sess = K.get_session()
    boxes, scores, classes = sess.run(found, feed_dict={
        detector.input: images[:1], image_shape: [64., 48.], K.learning_phase(): 0})
    return {'losses': losses, 'boxes': boxes, 'scores': scores, 'classes': classes}


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
