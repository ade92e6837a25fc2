"""Images: other sizes and their gradients, crops, patches, colours."""

R = "tf.raw_ops."
GRADS = (
    "tf.image.resize_bilinear(x, %s%s)",
    "tf.image.resize_bicubic(x, %s%s)",
    "tf.image.resize_nearest_neighbor(x, %s%s)",
)
SIZES = ("[9, 4]", "[3, 13]", "[1, 1]", "[10, 14]")
PLACES = "tf.constant([[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0], [-0.2, 0.3, 1.2, 0.4], [0.7, 0.9, 0.2, 0.1]])"
CASES = [
    *(f % (s, a) for f in GRADS for s in SIZES for a in ("", ", align_corners=True", ", half_pixel_centers=True")),
    *("tf.image.resize_%s(%s, [4, 9])" % (f, a) for f in ("bilinear", "bicubic", "nearest_neighbor", "area") for a in ("tf.cast(x, tf.float64)", "tf.cast(tf.stop_gradient(x), tf.float16)", "picture[tf.newaxis]", "tf.cast(picture, tf.int32)[tf.newaxis]")),
    *(R + "ResizeBilinearGrad(grads=tf.sin(x), original_image=g[..., :3]%s)" % a for a in ("", ", align_corners=True", ", half_pixel_centers=True")),
    *(R + "ResizeBicubicGrad(grads=tf.sin(x), original_image=g[..., :3]%s)" % a for a in ("", ", align_corners=True", ", half_pixel_centers=True")),
    *(R + "ResizeNearestNeighborGrad(grads=x, size=%s%s)" % (s, a) for s in ("[3, 4]", "[9, 8]") for a in ("", ", align_corners=True", ", half_pixel_centers=True")),
    *(R + "ScaleAndTranslate(images=x, size=[8, 6], scale=[1.4, 0.8], translation=[0.5, -0.7], kernel_type='%s', antialias=%s)" % (k, a)
      for k in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic") for a in (True, False)),
    *("tf.compat.v2.image.resize(x, %s, '%s', antialias=True)" % (s, k) for s in ("[3, 4]", "[9, 9]") for k in ("bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area", "nearest")),
    *("tf.image.crop_and_resize(x, boxes, of_box, %s, %s)" % (s, a) for s in ("[4, 3]", "[1, 2]") for a in ("'bilinear'", "'nearest'", "extrapolation_value=3.0")),
    "tf.image.crop_and_resize(x, %s, [1, 0, 0, 1], [3, 3])" % PLACES, "tf.image.crop_and_resize(picture[tf.newaxis], boxes, [0, 0, 0, 0], [2, 2])",
    "tf.image.crop_and_resize(x, boxes * 0.9, [0, 1, 1, 0], tf.stack([2, tf.shape(x)[1] - 2]))",
    R + "CropAndResizeGradImage(grads=tf.sin(tf.image.crop_and_resize(x, boxes, of_box, [2, 3])), boxes=boxes, box_ind=of_box, image_size=[2, 5, 7, 3], T=tf.float32)",
    R + "CropAndResizeGradImage(grads=tf.image.crop_and_resize(x, boxes, of_box, [2, 3]), boxes=boxes, box_ind=of_box, image_size=tf.shape(x), T=tf.float64, method='nearest')",
    R + "CropAndResizeGradBoxes(grads=tf.image.crop_and_resize(x, boxes, of_box, [2, 3]), image=x, boxes=boxes, box_ind=of_box)",
    *(R + "ExtractImagePatches(images=%s, ksizes=[1, %s, 1], strides=[1, %s, 1], rates=[1, %s, 1], padding='%s')" % (a, k, s, r, p)
      for a in ("x", "picture[tf.newaxis]") for k, s, r in (("2, 3", "2, 2", "1, 1"), ("3, 2", "1, 3", "2, 1")) for p in ("SAME", "VALID")),
    R + "ExtractVolumePatches(input=volume, ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 2, 1], padding='SAME')",
    R + "ExtractVolumePatches(input=volume, ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding='VALID')",
    R + "ExtractGlimpse(input=x, size=[3, 4], offsets=[[0.2, -0.3], [-0.3, 0.3]])", R + "ExtractGlimpse(input=x, size=[3, 4], offsets=[[0.3, -0.4], [-0.2, 0.1]], normalized=False)", R + "ExtractGlimpse(input=x, size=[2, 2], offsets=[[0.3, 0.4], [0.5, 0.6]], centered=False)",
    R + "ExtractGlimpse(input=x, size=[2, 2], offsets=[[1.0, 2.0], [3.0, 1.0]], centered=False, normalized=False)",
    R + "RGBToHSV(images=colours)", R + "RGBToHSV(images=tf.cast(colours, tf.float64) * 3.0)", R + "HSVToRGB(images=colours)", R + "HSVToRGB(images=tf.cast(colours[0], tf.float64))",
    R + "RGBToHSV(images=tf.constant([[0., 0., 0.], [1., 1., 1.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 0.], [0., 1., 1.], [1., 0., 1.], [.5, .5, .2]]))",
    R + "AdjustContrastv2(images=x, contrast_factor=1.7)", R + "AdjustContrastv2(images=image, contrast_factor=v[0])",
    R + "AdjustHue(images=colours, delta=0.3)", R + "AdjustHue(images=colours * 2.0, delta=-0.9)", R + "AdjustSaturation(images=colours, scale=1.4)", R + "AdjustSaturation(images=colours[0], scale=0.2)",
    R + "AdjustHue(images=tf.cast(colours, tf.float16), delta=0.3)", R + "AdjustSaturation(images=tf.cast(colours, tf.float16), scale=0.7)", R + "AdjustContrastv2(images=tf.cast(x, tf.float16), contrast_factor=0.5)",
    "tf.image.adjust_brightness(half[tf.newaxis], 0.2)", "tf.image.random_flip_left_right(tf.zeros([3, 4, 1])) + m[..., tf.newaxis]", "tf.image.total_variation(x)", "tf.image.image_gradients(x)", "tf.image.sobel_edges(x)",
    "tf.image.resize_image_with_crop_or_pad(x, 4, 9)", "tf.image.central_crop(x, 0.6)", "tf.image.rot90(x, 3)", "tf.image.resize_images(x, [3, 4], 2)", "tf.image.rgb_to_yuv(colours)", "tf.image.per_image_standardization(x[0])",
    "tf.random_crop(tf.ones([5, 6]), [2, 3])", "tf.image.flip_up_down(x)", "tf.image.psnr(colours, colours * 0.9, 1.0)", "tf.image.ssim(tf.tile(colours, [1, 3, 2, 1]), tf.tile(colours * 0.8, [1, 3, 2, 1]), 1.0)",
    "tf.image.random_crop(tf.ones([5, 6, 3]), [2, 3, 3])", "tf.image.extract_glimpse(x, [2, 3], [[0.0, 0.0], [0.1, 0.2]])", "tf.image.decode_png(tf.image.encode_png(picture))", "tf.image.decode_png(tf.image.encode_png(picture), channels=1)",
    "tf.image.decode_png(tf.image.encode_png(tf.cast(picture, tf.uint16) * 200), dtype=tf.uint16)", "tf.image.decode_png(tf.image.encode_png(picture[..., :1]), channels=3)", "tf.image.decode_png(tf.image.encode_png(picture[..., :2]))", "tf.image.decode_png(tf.image.encode_png(tf.concat([picture, picture[..., :1]], 2)))",
    "tf.image.decode_image(tf.image.encode_png(picture))", "tf.image.decode_png(tf.image.encode_png(tf.concat([picture, picture[..., :1]], 2)), channels=3)", "tf.image.decode_image(tf.image.encode_png(picture), channels=1)", "tf.image.is_jpeg(tf.image.encode_png(picture))",
]  # fmt: skip
ERRORS = [
    "tf.image.resize_bilinear(image, [3, 3])", "tf.image.resize_bilinear(x, [3])", "tf.image.resize_bilinear(x, [0, 3])", "tf.image.resize_nearest_neighbor(x, [3.0, 2.0])", "tf.image.resize_area(x, [[3, 3]])", "tf.image.crop_and_resize(x, boxes, of_box, [4])",
    "tf.image.crop_and_resize(x, m[:, :3], of_box, [4, 4])", "tf.image.crop_and_resize(image, boxes, of_box, [4, 4])", "tf.image.crop_and_resize(x, boxes, of_box, [4, 4], method='cubic')", "tf.image.rgb_to_hsv(m)", "tf.image.rgb_to_hsv(g)", "tf.image.adjust_hue(g, 0.1)", "tf.image.adjust_saturation(m, 0.1)",
    R + "ExtractImagePatches(images=image, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')", R + "ExtractImagePatches(images=x, ksizes=[1, 2, 2], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')", R + "ExtractImagePatches(images=x, ksizes=[1, 9, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')",
    "tf.image.extract_glimpse(x, [2], [[0.0, 0.0]])", "tf.image.adjust_contrast(m, 2.0)", "tf.image.decode_png(['a', 'b'])", "tf.image.encode_png(picture, compression=12)", "tf.image.encode_png(m)", "tf.image.draw_bounding_boxes(colours, boxes)", R + "ScaleAndTranslate(images=x, size=[8, 6], scale=[1.4], translation=[0.5, -0.7])",
    "tf.image.decode_png(b'', channels=2)", "tf.image.decode_jpeg(b'', channels=4)",
]  # fmt: skip
