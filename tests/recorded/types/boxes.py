"""Boxes: those that overlap least, drawn ones."""

R = "tf.raw_ops."
IN = "boxes=many, scores=of_many"
CLASSES = "boxes=tf.reshape(many, [2, 15, 1, 4]) * 0.1, scores=tf.stack([tf.reshape(of_many, [2, 15])] * 2, 2) * [1.0, 0.7]"
TIES = "boxes=tf.concat([many[:5], many[:5], many[5:9]], 0), scores=tf.round(tf.concat([of_many[:5], of_many[:5], of_many[5:9]], 0) * 4.0) / 4.0"
CASES = [
    *(R + "NonMaxSuppression(%s, max_output_size=%s)" % (b, n) for b in (IN, TIES) for n in ("5, iou_threshold=0.1", "30", "0")),
    *(R + "NonMaxSuppressionV2(%s, max_output_size=%s)" % (b, n) for b in (IN, TIES) for n in ("5, iou_threshold=0.1", "30, iou_threshold=0.5", "30, iou_threshold=0.0", "30, iou_threshold=1.0")),
    *(R + "NonMaxSuppressionV3(%s, max_output_size=%s)" % (b, n) for b in (IN, TIES) for n in ("5, iou_threshold=0.1, score_threshold=0.3", "30, iou_threshold=0.5, score_threshold=-1.0", "30, iou_threshold=0.2, score_threshold=2.0")),
    *(R + "NonMaxSuppressionV4(%s, max_output_size=%s)" % (b, n) for b in (IN, TIES) for n in ("5, iou_threshold=0.1, score_threshold=0.3", "30, iou_threshold=0.5, score_threshold=0.2, pad_to_max_output_size=True")),
    *(R + "NonMaxSuppressionV5(%s, max_output_size=%s)" % (b, n) for b in (IN, TIES) for n in (
        "5, iou_threshold=0.1, score_threshold=0.3, soft_nms_sigma=0.0", "30, iou_threshold=0.5, score_threshold=0.2, soft_nms_sigma=0.5, pad_to_max_output_size=True",
        "30, iou_threshold=1.0, score_threshold=0.1, soft_nms_sigma=0.3", "12, iou_threshold=0.4, score_threshold=0.05, soft_nms_sigma=1.0")),
    R + "NonMaxSuppressionV3(boxes=tf.cast(many, tf.float16), scores=tf.cast(of_many, tf.float16), max_output_size=30, iou_threshold=tf.constant(0.2, tf.float16), score_threshold=tf.constant(0.1, tf.float16))",
    R + "NonMaxSuppressionV3(boxes=many[:0], scores=of_many[:0], max_output_size=3, iou_threshold=0.2, score_threshold=0.1)",
    R + "NonMaxSuppressionWithOverlaps(overlaps=tf.abs(of_many[:, tf.newaxis] - of_many[tf.newaxis]), scores=of_many, max_output_size=9, overlap_threshold=0.6, score_threshold=0.1)",
    *(R + "CombinedNonMaxSuppression(%s, max_output_size_per_class=%s)" % (CLASSES, a) for a in (
        "3, max_total_size=5, iou_threshold=0.5, score_threshold=0.1", "15, max_total_size=30, iou_threshold=0.2, score_threshold=-1.0",
        "4, max_total_size=20, iou_threshold=0.5, score_threshold=0.3, pad_per_class=True", "4, max_total_size=20, iou_threshold=0.5, score_threshold=0.3, clip_boxes=False")),
    R + "DrawBoundingBoxes(images=colours, boxes=tf.stack([boxes, boxes]))", R + "DrawBoundingBoxes(images=colours[..., :1], boxes=tf.stack([boxes * 0.8, boxes]))",
    R + "DrawBoundingBoxesV2(images=colours, boxes=tf.stack([boxes, boxes]), colors=[[0.3, 0.1, 0.2]])", R + "DrawBoundingBoxesV2(images=tf.concat([colours, colours[..., :1]], 3), boxes=tf.stack([boxes, boxes]), colors=np.zeros([0, 4], 'float32'))",
    "tf.shape(tf.image.sample_distorted_bounding_box([5, 7, 3], boxes[tf.newaxis, :2]).bboxes)", "tf.slice(image * 0.0, *tf.image.sample_distorted_bounding_box([5, 7, 3], [[[0.0, 0.0, 1.0, 1.0]]], area_range=[1.0, 1.0], aspect_ratio_range=[1.4, 1.4])[:2])",
    "tf.image.sample_distorted_bounding_box([5, 7, 3], np.zeros([1, 0, 4], 'float32'), max_attempts=1, area_range=[0.99, 1.0], use_image_if_no_bounding_boxes=True)[1:]",
]  # fmt: skip
ERRORS = [
    R + "NonMaxSuppression(boxes=many[:, :3], scores=of_many, max_output_size=3)", R + "NonMaxSuppression(boxes=many, scores=many, max_output_size=3)", R + "NonMaxSuppressionV2(boxes=many, scores=of_many, max_output_size=[3], iou_threshold=0.3)", R + "NonMaxSuppressionV3(boxes=many, scores=of_many, max_output_size=3, iou_threshold=[0.3], score_threshold=0.1)",
    R + "NonMaxSuppressionV4(boxes=m, scores=of_many[:, tf.newaxis], max_output_size=3, iou_threshold=0.3, score_threshold=0.1)", R + "DrawBoundingBoxes(images=image, boxes=boxes[tf.newaxis])", R + "DrawBoundingBoxesV2(images=colours, boxes=tf.stack([boxes, boxes]), colors=[0.3, 0.1, 0.2])",
    R + "CombinedNonMaxSuppression(boxes=many, scores=many, max_output_size_per_class=3, max_total_size=3, iou_threshold=0.1, score_threshold=0.1)", "tf.image.sample_distorted_bounding_box([5, 7], boxes)", R + "NonMaxSuppressionWithOverlaps(overlaps=many, scores=of_many[:, tf.newaxis], max_output_size=3, overlap_threshold=0.3, score_threshold=0.1)",
]  # fmt: skip
