"""Records what functions of TensorFlow 1.15 return, and the gradients of some.

    python names.py names.npz

A case is an expression over `tf` and the arrays of `given`. The record has its value under its
name, and where it's in `SLOPES`, under `slope NAME ARRAY` the gradient of the sum of its sine.
"""

import sys

import numpy as np

SLOPES = (
    "resize", "resize nearest", "resize aligned", "reflect", "standardize", "space to depth",
    "depth to space", "patches same", "crop", "einsum of three", "einsum batches",
    "tensordot axes", "scatter", "segments", "channels", "selu", "normalize", "diagonals",
)  # fmt: skip

CASES = {
    "resize": "tf.image.resize_images(x, [9, 4])",
    "resize by factors": "tf.image.resize_images(x, [10, 14])",
    "resize nearest": "tf.image.resize_images(x, [9, 4], 1)",
    "resize aligned": "tf.image.resize_bilinear(x, [9, 4], align_corners=True)",
    "resize nearest aligned": "tf.image.resize_nearest_neighbor(x, [9, 4], align_corners=True)",
    "resize an image": "tf.image.resize_images(image, [3, 11])",
    "resize to a pixel": "tf.image.resize_bilinear(x, [1, 1], align_corners=True)",
    "reflect": "tf.pad(x, [[0, 0], [2, 3], [1, 0], [0, 0]], 'REFLECT')",
    "symmetric": "tf.pad(x, [[0, 1], [2, 3], [1, 0], [0, 0]], mode='SYMMETRIC')",
    "flip": "tf.image.flip_left_right(image)",
    "flip rows": "tf.image.flip_up_down(x)",
    "transpose an image": "tf.image.transpose_image(image)",
    "standardize": "tf.image.per_image_standardization(image)",
    "grey": "tf.image.rgb_to_grayscale(x)",
    "colours": "tf.image.grayscale_to_rgb(x[..., :1])",
    "brightness": "tf.image.adjust_brightness(image, 0.25)",
    "contrast": "tf.image.adjust_contrast(image, 1.5)",
    "space to depth": "tf.space_to_depth(g, 2)",
    "depth to space": "tf.depth_to_space(g, 2)",
    "patches": "tf.extract_image_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')",
    "patches same": "tf.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 1, 1], [1, 1, 2, 1], 'SAME')",
    "crop": "tf.image.crop_and_resize(x, boxes, of_box, [4, 3])",
    "crop nearest": "tf.image.crop_and_resize(x, boxes, of_box, [4, 3], method='nearest',"
    " extrapolation_value=7.0)",
    "crop a row": "tf.image.crop_and_resize(x, boxes, of_box, [1, 2])",
    "suppression": "tf.image.non_max_suppression(six, of_six, 3)",
    "suppression of all": "tf.image.non_max_suppression(six, of_six, 30, 0.4)",
    "suppression by score": "tf.image.non_max_suppression(six, of_six, 30, 0.5, 0.4)",
    "suppression of many": "tf.image.non_max_suppression(many, of_many, 25, 0.3)",
    "einsum": "tf.einsum('ij,jk->ik', m, n)",
    "einsum implied": "tf.einsum('ij,jk', m, n)",
    "einsum batches": "tf.einsum('bij,bjk->bik', t, u)",
    "einsum transposed": "tf.einsum('ij->ji', m)",
    "einsum summed": "tf.einsum('bij,bjk->k', t, u)",
    "einsum of three": "tf.einsum('bij,jk,bjk->bi', t, n, u)",
    "einsum outer": "tf.einsum('i,jk->kij', v, m)",
    "tensordot": "tf.tensordot(t, n, 1)",
    "tensordot axes": "tf.tensordot(t, u, [[0, 2], [0, 1]])",
    "scatter": "tf.scatter_nd([[1], [3], [1]], m, [5, 4])",
    "scatter elements": "tf.scatter_nd([[0, 1], [2, 2], [0, 1]], [1.0, 2.0, 3.0], [3, 4])",
    "segments": "tf.segment_sum(m, numbers)",
    "segments' means": "tf.segment_mean(m, numbers)",
    "segments unsorted": "tf.unsorted_segment_sum(m, [3, 0, 3], 5)",
    "diagonal": "tf.diag(v)",
    "diagonals": "tf.linalg.diag_part(t[:, :, :3])",
    "linspace": "tf.linspace(1.0, 4.0, 7)",
    "meshgrid": "tf.meshgrid([1, 2, 3], [4, 5])[1]",
    "meshgrid in order": "tf.meshgrid([1, 2, 3], [4, 5], indexing='ij')[0]",
    "argsort": "tf.argsort(t, direction='DESCENDING')",
    "sum of three": "tf.add_n([m, m, m])",
    "half of squares": "tf.nn.l2_loss(m)",
    "channels": "tf.nn.lrn(x, 2, 1.5, 0.3, 0.75)",
    "channels by default": "tf.nn.lrn(g)",
    "swish": "tf.nn.swish(m)",
    "selu": "tf.nn.selu(m)",
    "normalize": "tf.nn.batch_normalization(m, m[0], tf.square(m[1]), m[2], m[0], 1e-3)",
    "normalize alone": "tf.nn.batch_normalization(m, m[0], tf.square(m[1]), None, None, 1e-3)",
    "layer": "tf.nn.xw_plus_b(m, n, n[0])",
    "finite": "tf.is_finite(m / tf.constant([0.0, 1.0, 1.0, 1.0]))",
    "scaled": "tf.scalar_mul(2.0, m)",
}


def given():
    """The arrays that the expressions are over."""
    rng = np.random.RandomState(0)
    normal = lambda *shape: rng.randn(*shape).astype("float32")  # noqa: E731
    corners = [[0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], [0.5, 0.5, 0.2, 0.1], [-0.2, 0.1, 1.3, 0.7]]
    tops = [[0, 1], [0.1, 1.1], [-0.1, 0.9], [10, 11], [10.1, 11.1], [100, 101]]
    return {
        "x": normal(2, 5, 7, 3),
        "g": normal(2, 6, 8, 4),
        "m": normal(3, 4),
        "n": normal(4, 5),
        "t": normal(2, 3, 4),
        "u": normal(2, 4, 5),
        "v": normal(6),
        "image": normal(5, 7, 3),
        "boxes": np.array(corners, "float32"),
        "of_box": np.array([0, 1, 1, 0], "int32"),
        "six": np.array([[0, low, 1, high] for low, high in tops], "float32"),
        "of_six": np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32"),
        "many": (rng.rand(40, 4) * 10).astype("float32"),
        "of_many": rng.rand(40).astype("float32"),
        "numbers": np.array([0, 0, 2], "int32"),
    }


def main(path):
    import tensorflow as tf

    session, found = tf.Session(), {}
    for name, expression in CASES.items():
        tensors = {key: tf.constant(array) for key, array in given().items()}
        y = eval(expression, dict(tensors, tf=tf))
        found[name] = session.run(y)
        if name in SLOPES:
            slopes = tf.gradients(tf.reduce_sum(tf.sin(y)), list(tensors.values()))
            for key, slope in zip(tensors, slopes):
                if slope is not None:
                    found[f"slope {name} {key}"] = session.run(tf.convert_to_tensor(slope))
    np.savez_compressed(path, **found)


if __name__ == "__main__":
    main(sys.argv[1])
