"""Images: sizes, crops, colours, measures, boxes."""

METHODS = ("bilinear", "nearest_neighbor", "bicubic")
BIG = "tf.tile(colours, [1, 3, 2, 1])"
SHIFTED = "tf.tile(colours * 0.5 + 0.25, [1, 3, 2, 1])"
LARGE = "tf.tile(colours[:1], [1, 8, 8, 1])"
CASES = [
    *("tf.image.resize_%s(x, %s%s)" % (f, s, a) for f in METHODS for s in ("[9, 4]", "[3, 13]", "[1, 2]")
      for a in ("", ", align_corners=True", ", half_pixel_centers=True")),
    *("tf.image.resize_area(x, %s%s)" % (s, a) for s in ("[9, 4]", "[3, 13]", "[1, 2]", "[5, 7]")
      for a in ("", ", align_corners=True") if not (a and "1, 2" in s)),
    *("tf.image.resize_images(x, [4, 3], %s)" % m for m in (
        "tf.image.ResizeMethod.BICUBIC", "tf.image.ResizeMethod.AREA", "method=2", "1, True", "preserve_aspect_ratio=True")),
    "tf.image.resize(image[:5], [4, 3])", "tf.image.resize_images(x, [5, 7])", "tf.image.resize_images(x, [8, 5], preserve_aspect_ratio=True)",
    "tf.image.resize_images(x, tf.shape(x)[1:3] * 2)", "tf.image.resize_bilinear(x, (tf.shape(x)[1] * 2, tf.shape(x)[2] + 1))",
    "tf.image.resize_nearest_neighbor(picture[tf.newaxis], [3, 9])", "tf.image.resize_bilinear(picture[tf.newaxis], [3, 9])",
    "tf.image.resize_images(picture, [3, 9])", "tf.image.resize_bilinear(image[tf.newaxis], [9, 4])",
    "tf.image.resize_bicubic(image[tf.newaxis], [9, 4])", "tf.image.resize_area(image[tf.newaxis], [3, 4])",
    "tf.image.resize_nearest_neighbor(image[tf.newaxis], [9, 4], align_corners=True)",
    *("tf.image.resize_image_with_pad(x, %s)" % s for s in ("8, 8", "4, 12", "3, 3")),
    *("tf.image.crop_to_bounding_box(%s)" % a for a in ("x, 1, 2, 3, 4", "image, 0, 1, 4, 6", "x, 0, 0, 5, 7")),
    *("tf.image.pad_to_bounding_box(%s)" % a for a in ("x, 1, 2, 8, 9", "image, 0, 1, 6, 8", "x, 0, 0, 5, 7")),
    *("tf.image.resize_image_with_crop_or_pad(%s)" % a for a in (
        "x, 3, 4", "x, 8, 10", "x, 4, 10", "image, 8, 3", "x, 2, 2", "image, 3, 3", "x, 6, 8")),
    *("tf.image.central_crop(%s)" % a for a in ("x, 0.5", "image, 0.5", "x, 0.3", "x, 1.0", "image, 0.85")),
    *("tf.image.%s(%s)" % (f, a) for f in ("flip_left_right", "flip_up_down", "transpose_image") for a in ("x", "picture")),
    *("tf.image.rot90(%s, %d)" % (a, k) for a in ("x", "image") for k in (0, 1, 2, 3, 5)),
    "tf.image.per_image_standardization(x)", "tf.image.per_image_standardization(picture)",
    *("tf.image.%s(%s)" % (f, a) for f in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb")
      for a in ("colours", "colours[0]", "tf.zeros_like(colours)", "tf.round(colours)")),
    *("tf.image.rgb_to_grayscale(%s)" % a for a in ("colours", "picture", "image")),
    *("tf.image.grayscale_to_rgb(%s)" % a for a in ("x[..., :1]", "picture[..., 1:2]")),
    *("tf.image.adjust_brightness(%s)" % a for a in ("picture, 0.25", "picture, -0.4", "colours, 0.1")),
    *("tf.image.adjust_contrast(%s)" % a for a in ("picture, 1.5", "colours, 0.5", "colours[0], 2.0")),
    *("tf.image.adjust_hue(%s)" % a for a in ("colours, 0.2", "colours, -0.7", "picture, 0.3", "colours[0], 0.0")),
    *("tf.image.adjust_saturation(%s)" % a for a in ("colours, 0.5", "colours, 1.7", "picture, 0.3", "colours[0], 0.0")),
    *("tf.image.adjust_gamma(%s)" % a for a in ("colours, 2.0", "colours, 0.5, 3.0", "colours", "picture, 0.7", "picture, 1.5, 2")),
    *("tf.image.convert_image_dtype(%s)" % a for a in (
        "picture, tf.float32", "picture, tf.int16", "colours, tf.uint8", "colours, tf.int32", "picture, tf.uint8",
        "x, tf.uint8, saturate=True", "colours, tf.float64", "tf.cast(picture, tf.int16) * 100, tf.uint8", "picture, tf.float16")),
    *("tf.image.psnr(%s)" % a for a in ("colours, colours * 0.9, 1.0", "picture, picture // 2, 255", "colours[0], colours[1], max_val=2.0")),
    *("tf.image.ssim(%s, %s, 1.0%s)" % (BIG, SHIFTED, a) for a in ("", ", 5", ", filter_sigma=0.7", ", k1=0.1, k2=0.2")),
    "tf.image.ssim(colours, tf.reverse(colours, [0]), 1.0, filter_size=3)", "tf.image.ssim(picture, picture // 2, 255, 3)",
    "tf.image.ssim_multiscale(%s, %s * 0.8, 1.0, (0.3, 0.3, 0.4), 5)" % (LARGE, LARGE),
    "tf.image.ssim_multiscale(%s, tf.square(%s), 1.0, power_factors=(0.5, 0.5), filter_size=7)" % (BIG, BIG),
    "tf.image.total_variation(x)", "tf.image.total_variation(image)", "tf.image.sobel_edges(x)", "tf.image.image_gradients(x)",
    *("tf.image.non_max_suppression_with_scores(many, of_many, %s)" % a for a in (
        "5", "30, 0.2", "10, 0.5, 0.4", "10, 0.5, 0.1, 0.5", "30, 1.0, 0.2, 0.3", "8, 0.3, float('-inf'), 1.0")),
    *("tf.image.non_max_suppression_padded(many, of_many, %s)" % a for a in (
        "5", "30, 0.2, pad_to_max_output_size=True", "10, 0.5, 0.4, True", "4, 0.5, 0.9, True")),
    *("tf.image.non_max_suppression_overlaps(1.0 - tf.abs(of_many[:, tf.newaxis] - of_many[tf.newaxis]), of_many, %s)" % a for a in ("5", "30, 0.2", "10, 0.5, 0.4")),
    *("tf.image.combined_non_max_suppression(tf.reshape(many, [2, 15, 1, 4]) * 0.1, tf.stack([tf.reshape(of_many, [2, 15])] * 2, 2)"
      " * [1.0, 0.7], %s)" % a for a in ("3, 5", "15, 30, 0.2", "4, 20, 0.5, 0.3", "4, 20, pad_per_class=True", "3, 5, clip_boxes=False")),
    *("tf.image.draw_bounding_boxes(colours, %s)" % a for a in (
        "tf.stack([boxes, boxes])", "tf.stack([boxes[:2] * 0.5, boxes[1:3]]), colors=[[0.1, 0.2, 0.3], [0.9, 0.8, 0.7]]")),
    "tf.image.draw_bounding_boxes(colours[..., :1], tf.stack([boxes, boxes]))",
    "tf.image.extract_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], 'VALID')",
    "tf.extract_volume_patches(volume, [1, 2, 2, 3, 1], [1, 2, 1, 2, 1], 'SAME')",
    "tf.extract_volume_patches(volume, [1, 2, 2, 3, 1], [1] * 5, 'VALID')",
]  # fmt: skip
ERRORS = [
    "tf.image.resize_images(x, [3, 3, 3])",
    "tf.image.resize_images(m, [3, 3])",
    "tf.image.central_crop(x, 0.0)",
    "tf.image.central_crop(x, 1.5)",
    "tf.image.crop_to_bounding_box(x, 3, 0, 5, 7)",
    "tf.image.pad_to_bounding_box(x, 0, 0, 3, 9)",
    "tf.image.resize_image_with_crop_or_pad(x, 0, 4)",
    "tf.image.random_brightness(x, -0.1)",
    "tf.image.random_contrast(x, 0.5, 0.2)",
    "tf.image.random_hue(colours, 0.7)",
    "tf.image.random_saturation(colours, 1.0, 0.5)",
    "tf.image.adjust_gamma(colours, -1.0)",
    "tf.image.ssim(x, g, 1.0)",
    "tf.image.flip_left_right(m)",
    "tf.image.rot90(v)",
    "tf.image.total_variation(m)",
]
