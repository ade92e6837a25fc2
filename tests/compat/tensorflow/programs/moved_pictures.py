"""Pictures turned and bent, boxes matched (tf.contrib); graphs of 2015, and how they normalize."""

import numpy as np
import tensorflow as tf
from recording import case, main, raised, run, told
from tensorflow.contrib.image.ops import gen_image_ops
from tensorflow.contrib.image.python.ops import distort_image_ops

DRAWN = np.random.RandomState(5)
PICTURES = DRAWN.randint(0, 200, (2, 5, 4, 3)).astype("float32")
ANGLES = np.array([0.3, -1.2], "float32")
KINDS = [tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64]
BENT = [[1.1, 0.2, -0.4, -0.1, 0.9, 0.3, 0.05, -0.02], [1, 0, 0, 0, 1, 0, -0.5, 0]]


@case
def turned():
    image = tf.contrib.image
    ways = [(kind, way) for kind in KINDS for way in ("NEAREST", "BILINEAR")]
    return [told(image.rotate(tf.cast(PICTURES, kind), ANGLES, way)) for kind, way in ways]


@case
def moved():
    image, one = tf.contrib.image, PICTURES[0]
    flat = image.compose_transforms(
        image.angles_to_projective_transforms(0.5, 5.0, 4.0),
        image.translations_to_projective_transforms([1.0, -0.5]),
    )
    found = [image.translate(one[..., 0], [0.5, -1.5], way) for way in ("NEAREST", "BILINEAR")]
    bent = [image.transform(PICTURES, BENT, "BILINEAR"), image.transform(PICTURES, BENT)]
    sized = image.transform(PICTURES, BENT[:1], output_shape=[2, 6])
    first = gen_image_ops.image_projective_transform(PICTURES, flat, interpolation="NEAREST")
    return told([*found, *bent, sized, first, image.transform(one, flat[0])])


@case
def turned_of_any_size():
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = tf.contrib.image.rotate(x, 0.3, "BILINEAR")
    feeds = ({x: PICTURES}, {x: PICTURES[:, :3, 1:]})
    return [told(y / 200, each, [x]) for each in feeds]


@case
def resampled():
    places = DRAWN.uniform(-1.6, 5.6, (2, 3, 4, 2))
    places[0, 0] = [[-1, 2], [0, 0], [3, 4], [3.5, 1]]
    found = []
    for kind in (tf.float32, tf.float64):
        x, at = tf.cast(PICTURES / 200, kind), tf.cast(places, kind)
        slopes = tf.gradients(tf.reduce_sum(tf.contrib.resampler.resampler(x, at) ** 2), [x, at])
        found += told([tf.contrib.resampler.resampler(x, at), *slopes])
    return found


@case
def resampled_at_any_places():
    x = tf.placeholder(tf.float32, [None, None, 4, 3])
    at = tf.placeholder(tf.float32, [None, None, 2])
    feeds = {x: PICTURES, at: DRAWN.uniform(-1, 5, (2, 6, 2))}
    return told(tf.contrib.resampler.resampler(x / 200, at), feeds, [x, at])


@case
def coloured():
    x = tf.placeholder(tf.float32, [None, None, 3])
    told_of = ((0.0, 1.0, 1.0), (0.7, 0.6, 1.3), (-2.0, 1.8, 0.4))
    found = [distort_image_ops.adjust_hsv_in_yiq(PICTURES / 200, *each) for each in told_of]
    return told([*found, distort_image_ops.adjust_hsv_in_yiq(x, 1.0, 0.5, 2.0)], {x: PICTURES[0]})


@case
def matched():
    near = DRAWN.uniform(size=(4, 6)).astype("float32")
    even = DRAWN.randint(0, 3, (6, 5)).astype("float32")
    told_of = [(near, -1.0, -1), (near, 2.0, -1), (near, -1.0, 3), (even, -1.0, 0), (even, 0.0, 1)]
    x = tf.placeholder(tf.float32, [None, 5])
    pairs = [list(gen_image_ops.bipartite_match(*each)) for each in [*told_of, (x, [3.0], 2)]]
    return told(pairs, {x: even})


@case
def matched_too_many():
    found = raised(lambda: run(list(gen_image_ops.bipartite_match(np.ones((2, 3)), 5.0))))
    return [found[0], found[1].split("\n")[0]]


@case
def as_old_as_the_oldest_part():
    graph, found = tf.get_default_graph(), []
    for producer, least, bad in ((60, 3, 9), (20, 12, 7), (50, 0, 9), (80, 500, 9), (90, 1, 134)):
        message = tf.GraphDef(versions={"producer": producer, "min_consumer": least})
        message.versions.bad_consumers.append(bad)
        found.append(raised(lambda part=message: tf.import_graph_def(part)))
        found.append([str(graph.graph_def_versions), str(graph.as_graph_def().versions)])
    return found


@case
def normalized_as_in_2015():
    graph = tf.get_default_graph().as_graph_def()
    graph.versions.producer = 8
    node = graph.node.add(name="y", op="BatchNormWithGlobalNormalization")
    names = ["x", "mean", "variance", "offset", "scale"]
    for name in names:
        graph.node.add(name=name, op="Placeholder").attr["dtype"].type = 1
    node.input.extend(names)
    node.attr["T"].type, node.attr["variance_epsilon"].f = 1, 0.01
    numbers = DRAWN.uniform(0.5, 1.5, (4, 3)).astype("float32")
    found = []
    for scaled in (False, True):
        node.attr["scale_after_normalization"].b = scaled
        given = [tf.constant(each) for each in (PICTURES, *numbers)]
        given_by_name = {name: given[at] for at, name in enumerate(names)}
        [y] = tf.import_graph_def(graph, given_by_name, ["y:0"])
        found += told(y / 200, over=given)
    return [str(tf.get_default_graph().graph_def_versions), *found]


@case
def connected_components():
    draw = np.random.RandomState(0)
    texts = np.array([b"", b"a", b"bb"], object)[draw.randint(0, 3, size=(1, 6, 6))]
    pictures = [draw.uniform(size=(2, 6, 7)) > 0.5, draw.randint(0, 3, size=(2, 5, 8)), texts]
    given = [tf.placeholder(kind, [None, None, None]) for kind in (tf.bool, tf.int64, tf.string)]
    found = [tf.contrib.image.connected_components(each) for each in given]
    feeds = {given[at]: picture for at, picture in enumerate(pictures)}
    with tf.Session() as session:
        return [x.tolist() for x in session.run(found, feeds)]


@case
def boxes_whose_scores_fade():
    random = np.random.RandomState(0)
    corners, scores = random.rand(8, 4).astype("f"), random.rand(8).astype("f")
    corners[:, 2:] = corners[:, :2] + random.rand(8, 2) * 0.6
    best = tf.image.non_max_suppression_with_scores
    return [
        run(best(corners, scores, 8, threshold, least, sigma))
        for threshold in (0.1, 0.5)
        for least in (-np.inf, 0.2)
        for sigma in (0.0, 0.2, 1.0)
    ]


if __name__ == "__main__":
    main()
