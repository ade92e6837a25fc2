"""Graph functions and layers of a two-stage detector: proposals, targets, aligned regions."""
import json

import keras.backend as K
import keras.engine as KE
import keras.layers as KL
import keras.models as KM
import numpy as np
import tensorflow as tf

BATCH, ANCHORS, CLASSES = 2, 12, 3


def batch_slice(inputs, graph_fn, batch_size, names=None):
    """Run a graph of one image for each of a batch."""
    inputs = inputs if isinstance(inputs, list) else [inputs]
    outputs = []
    for i in range(batch_size):
        output = graph_fn(*[x[i] for x in inputs])
        outputs.append(output if isinstance(output, (tuple, list)) else [output])
    outputs = list(zip(*outputs))
    names = [None] * len(outputs) if names is None else names
    result = [tf.stack(o, axis=0, name=n) for o, n in zip(outputs, names)]
    return result[0] if len(result) == 1 else result


def apply_box_deltas(boxes, deltas):
    height, width = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    center_y = boxes[:, 0] + 0.5 * height + deltas[:, 0] * height
    center_x = boxes[:, 1] + 0.5 * width + deltas[:, 1] * width
    height *= tf.exp(deltas[:, 2])
    width *= tf.exp(deltas[:, 3])
    y1, x1 = center_y - 0.5 * height, center_x - 0.5 * width
    return tf.stack([y1, x1, y1 + height, x1 + width], axis=1, name="apply_box_deltas_out")


def clip_boxes(boxes, window):
    wy1, wx1, wy2, wx2 = tf.split(window, 4)
    y1, x1, y2, x2 = tf.split(boxes, 4, axis=1)
    parts = [tf.maximum(tf.minimum(y1, wy2), wy1), tf.maximum(tf.minimum(x1, wx2), wx1),
             tf.maximum(tf.minimum(y2, wy2), wy1), tf.maximum(tf.minimum(x2, wx2), wx1)]
    clipped = tf.concat(parts, axis=1, name="clipped_boxes")
    clipped.set_shape((clipped.shape[0], 4))
    return clipped


class ProposalLayer(KE.Layer):
    """The best anchors after deltas and suppression, padded with zeros."""

    def __init__(self, proposal_count, nms_threshold, **kwargs):
        super(ProposalLayer, self).__init__(**kwargs)
        self.proposal_count, self.nms_threshold = proposal_count, nms_threshold

    def call(self, inputs):
        scores, deltas, anchors = inputs[0][:, :, 1], inputs[1], inputs[2]
        deltas = deltas * np.reshape([0.1, 0.1, 0.2, 0.2], [1, 1, 4])
        limit = tf.minimum(8, tf.shape(anchors)[1])
        ix = tf.nn.top_k(scores, limit, sorted=True, name="top_anchors").indices
        scores = batch_slice([scores, ix], lambda x, y: tf.gather(x, y), BATCH)
        deltas = batch_slice([deltas, ix], lambda x, y: tf.gather(x, y), BATCH)
        anchors = batch_slice([anchors, ix], lambda a, x: tf.gather(a, x), BATCH, ["anchors"])
        boxes = batch_slice([anchors, deltas], apply_box_deltas, BATCH, ["refined"])
        window = np.array([0, 0, 1, 1], dtype=np.float32)
        boxes = batch_slice(boxes, lambda x: clip_boxes(x, window), BATCH, ["clipped"])

        def nms(boxes, scores):
            indices = tf.image.non_max_suppression(
                boxes, scores, self.proposal_count, self.nms_threshold, name="rpn_nms")
            proposals = tf.gather(boxes, indices)
            padding = tf.maximum(self.proposal_count - tf.shape(proposals)[0], 0)
            return tf.pad(proposals, [(0, padding), (0, 0)])
        return batch_slice([boxes, scores], nms, BATCH)

    def compute_output_shape(self, input_shape):
        return (None, self.proposal_count, 4)


def overlaps(boxes1, boxes2):
    b1 = tf.reshape(tf.tile(tf.expand_dims(boxes1, 1), [1, 1, tf.shape(boxes2)[0]]), [-1, 4])
    b2 = tf.tile(boxes2, [tf.shape(boxes1)[0], 1])
    b1_y1, b1_x1, b1_y2, b1_x2 = tf.split(b1, 4, axis=1)
    b2_y1, b2_x1, b2_y2, b2_x2 = tf.split(b2, 4, axis=1)
    y1, x1 = tf.maximum(b1_y1, b2_y1), tf.maximum(b1_x1, b2_x1)
    y2, x2 = tf.minimum(b1_y2, b2_y2), tf.minimum(b1_x2, b2_x2)
    inter = tf.maximum(x2 - x1, 0) * tf.maximum(y2 - y1, 0)
    union = (b1_y2 - b1_y1) * (b1_x2 - b1_x1) + (b2_y2 - b2_y1) * (b2_x2 - b2_x1) - inter
    return tf.reshape(inter / (union + 1e-6), [tf.shape(boxes1)[0], tf.shape(boxes2)[0]])


def trim_zeros(boxes, name=None):
    non_zeros = tf.cast(tf.reduce_sum(tf.abs(boxes), axis=1), tf.bool)
    return tf.boolean_mask(boxes, non_zeros, name=name), non_zeros


def targets(proposals, gt_class_ids, gt_boxes):
    asserts = [tf.Assert(tf.greater(tf.shape(proposals)[0], 0), [proposals], name="roi_assertion")]
    with tf.control_dependencies(asserts):
        proposals = tf.identity(proposals)
    proposals, _ = trim_zeros(proposals, name="trim_proposals")
    gt_boxes, non_zeros = trim_zeros(gt_boxes, name="trim_gt_boxes")
    gt_class_ids = tf.boolean_mask(gt_class_ids, non_zeros)
    crowd_ix = tf.where(gt_class_ids < 0)[:, 0]
    non_crowd_ix = tf.where(gt_class_ids > 0)[:, 0]
    crowd_boxes = tf.gather(gt_boxes, crowd_ix)
    gt_class_ids = tf.gather(gt_class_ids, non_crowd_ix)
    gt_boxes = tf.gather(gt_boxes, non_crowd_ix)
    iou = overlaps(proposals, gt_boxes)
    no_crowd = tf.reduce_max(overlaps(proposals, crowd_boxes), axis=1) < 0.001
    roi_iou_max = tf.reduce_max(iou, axis=1)
    positive = tf.where(roi_iou_max >= 0.2)[:, 0]
    negative = tf.where(tf.logical_and(roi_iou_max < 0.2, no_crowd))[:, 0]
    # All are taken: the order alone is by chance, and it is undone below.
    shuffled = tf.random_shuffle(positive)[:6]
    positive = -tf.nn.top_k(-tf.cast(shuffled, tf.int32), tf.size(shuffled)).values
    positive_rois = tf.gather(proposals, positive)
    positive_iou = tf.gather(iou, positive)
    assigned = tf.cond(
        tf.greater(tf.shape(positive_iou)[1], 0),
        true_fn=lambda: tf.argmax(positive_iou, axis=1),
        false_fn=lambda: tf.cast(tf.constant([]), tf.int64))
    ids = tf.gather(gt_class_ids, assigned)
    rois = tf.concat([positive_rois, tf.gather(proposals, negative)], axis=0)
    P = tf.maximum(6 - tf.shape(rois)[0], 0)
    N = tf.shape(negative)[0]
    return tf.pad(rois, [(0, P), (0, 0)])[:6], tf.pad(ids, [(0, N + P)])[:6]


class TargetLayer(KE.Layer):
    """Regions and their classes: two outputs."""

    def call(self, inputs):
        return batch_slice(inputs, targets, BATCH, ["rois", "target_class_ids"])

    def compute_output_shape(self, input_shape):
        return [(None, 6, 4), (None, 6)]

    def compute_mask(self, inputs, mask=None):
        return [None, None]


class PyramidROIAlign(KE.Layer):
    def __init__(self, pool_shape, **kwargs):
        super(PyramidROIAlign, self).__init__(**kwargs)
        self.pool_shape = tuple(pool_shape)

    def call(self, inputs):
        boxes, feature_maps = inputs[0], inputs[1:]
        y1, x1, y2, x2 = tf.split(boxes, 4, axis=2)
        level = tf.log(tf.sqrt((y2 - y1) * (x2 - x1)) + 1e-7) / tf.log(2.0)
        level = tf.minimum(3, tf.maximum(2, 5 + tf.cast(tf.round(level), tf.int32)))
        level = tf.squeeze(level, 2)
        pooled, box_to_level = [], []
        for i, map_level in enumerate(range(2, 4)):
            ix = tf.where(tf.equal(level, map_level))
            level_boxes = tf.stop_gradient(tf.gather_nd(boxes, ix))
            box_indices = tf.stop_gradient(tf.cast(ix[:, 0], tf.int32))
            box_to_level.append(ix)
            pooled.append(tf.image.crop_and_resize(
                feature_maps[i], level_boxes, box_indices, self.pool_shape, method="bilinear"))
        pooled, box_to_level = tf.concat(pooled, axis=0), tf.concat(box_to_level, axis=0)
        order = tf.expand_dims(tf.range(tf.shape(box_to_level)[0]), 1)
        box_to_level = tf.concat([tf.cast(box_to_level, tf.int32), order], axis=1)
        sorting = box_to_level[:, 0] * 100000 + box_to_level[:, 1]
        ix = tf.nn.top_k(sorting, k=tf.shape(box_to_level)[0]).indices[::-1]
        pooled = tf.gather(pooled, tf.gather(box_to_level[:, 2], ix))
        return tf.reshape(pooled, tf.concat([tf.shape(boxes)[:2], tf.shape(pooled)[1:]], axis=0))

    def compute_output_shape(self, input_shape):
        return input_shape[0][:2] + self.pool_shape + (input_shape[1][-1],)


def refine(rois, probs):
    """The detections of one image: classes, suppression for each, what both hold."""
    class_ids = tf.argmax(probs, axis=1, output_type=tf.int32)
    indices = tf.stack([tf.range(probs.shape[0]), class_ids], axis=1)
    scores = tf.gather_nd(probs, indices)
    keep = tf.where(class_ids > 0)[:, 0]
    conf_keep = tf.where(scores >= 0.35)[:, 0]
    keep = tf.sets.set_intersection(tf.expand_dims(keep, 0), tf.expand_dims(conf_keep, 0))
    keep = tf.sparse_tensor_to_dense(keep)[0]
    pre_ids, pre_scores = tf.gather(class_ids, keep), tf.gather(scores, keep)
    pre_rois = tf.gather(rois, keep)
    unique_ids = tf.unique(pre_ids)[0]

    def nms_keep_map(class_id):
        ixs = tf.where(tf.equal(pre_ids, class_id))[:, 0]
        class_keep = tf.image.non_max_suppression(
            tf.gather(pre_rois, ixs), tf.gather(pre_scores, ixs), max_output_size=4,
            iou_threshold=0.5)
        class_keep = tf.gather(keep, tf.gather(ixs, class_keep))
        gap = 4 - tf.shape(class_keep)[0]
        class_keep = tf.pad(class_keep, [(0, gap)], mode='CONSTANT', constant_values=-1)
        class_keep.set_shape([4])
        return class_keep

    nms = tf.map_fn(nms_keep_map, unique_ids, dtype=tf.int64)
    nms = tf.reshape(nms, [-1])
    nms = tf.gather(nms, tf.where(nms > -1)[:, 0])
    keep = tf.sets.set_intersection(tf.expand_dims(keep, 0), tf.expand_dims(nms, 0))
    keep = tf.sparse_tensor_to_dense(keep)[0]
    top = tf.nn.top_k(tf.gather(scores, keep), k=tf.minimum(tf.shape(keep)[0], 4), sorted=True)
    keep = tf.gather(keep, top.indices)
    return tf.concat([tf.gather(rois, keep), tf.to_float(tf.gather(class_ids, keep))[..., tf.newaxis],
                      tf.gather(scores, keep)[..., tf.newaxis]], axis=1)


def main():
    draw = np.random.RandomState(2)
    probs, deltas = KL.Input((ANCHORS, 2)), KL.Input((ANCHORS, 4))
    anchors, ids, boxes = KL.Input((ANCHORS, 4)), KL.Input((3,), dtype="int32"), KL.Input((3, 4))
    maps = [KL.Input((16, 16, 2)), KL.Input((8, 8, 2))]
    proposals = ProposalLayer(6, 0.7, name="ROI")([probs, deltas, anchors])
    rois, class_ids = TargetLayer(name="targets")([proposals, ids, boxes])
    pooled = PyramidROIAlign([3, 3], name="align")([proposals] + maps)
    shared = KL.TimeDistributed(KL.Conv2D(5, (3, 3)), name="mrcnn_class_conv1")(pooled)
    shared = KL.Lambda(lambda x: K.squeeze(K.squeeze(x, 3), 2), name="pool_squeeze")(shared)
    logits = KL.TimeDistributed(KL.Dense(CLASSES))(shared)
    classes = KL.TimeDistributed(KL.Activation("softmax"))(logits)
    model = KM.Model([probs, deltas, anchors, ids, boxes] + maps,
                     [proposals, rois, class_ids, pooled, classes])
    model.set_weights([draw.normal(0, .5, w.shape) for w in model.get_weights()])

    def boxed(n):
        low = draw.uniform(0, .6, (BATCH, n, 2))
        return np.concatenate([low, low + draw.uniform(.2, .4, (BATCH, n, 2))], -1)
    gt = boxed(3)
    gt[1, 2] = 0
    grid = boxed(ANCHORS)
    grid[:, :4] = gt[:, [0, 1, 0, 1]] + .02
    p = draw.rand(BATCH, ANCHORS, 2)
    given = [p, draw.normal(0, .3, (BATCH, ANCHORS, 4)), grid, [[1, 2, -1], [2, 1, 0]], gt,
             draw.rand(BATCH, 16, 16, 2), draw.rand(BATCH, 8, 8, 2)]
    found = dict(zip(["proposals", "rois", "class_ids", "pooled", "classes"],
                     model.predict([np.array(g) for g in given])))
    x, q = tf.placeholder(tf.float32, [6, 4]), tf.placeholder(tf.float32, [6, CLASSES])
    told = draw.dirichlet(np.ones(CLASSES), 6)
    found["detections"] = K.get_session().run(
        refine(x, q), {x: found["proposals"][0], q: told})
    return found


if __name__ == '__main__':
    print(json.dumps({k: np.asarray(v).tolist() for k, v in main().items()}))
