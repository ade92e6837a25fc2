"""What to use in place of names of TensorFlow 1 that there aren't.

A name's own advice goes before that of its namespace; so `train` says something of all its names,
and rows below it more of some.
"""

from __future__ import annotations

SAVED = "model.save of Keras, or K.function(…).save(path): graph and variables in one file"
LOOP = "a loop of the program over session.run, with what the hook does in it"
GENERATOR = "tf.random_uniform and its kin, whose numbers follow tf.set_random_seed on every engine"
SAMPLED = (
    "tf.nn.softmax_cross_entropy_with_logits, or indices drawn by tf.random_uniform or NumPy:"
    " TensorFlow's samplers draw from a generator of its own"
)
QUEUE = "tf.data.Dataset (filter, repeat, batch), or tf.train.batch of one example"
READER = "the file's reader of Python (open, csv, numpy.load, h5py), and feed_dict"
PARTITION = "a variable in one piece: the engine places it"
SETTING = "nothing: take the line out, as it sets something of TensorFlow's own"
FILES = "open, glob and pathlib of Python, outside of the graph"
OPERATOR = "the matrix itself, as a tensor, with tf.matmul and tf.linalg"
SPEC = "a tf.placeholder of that shape and dtype"
SEGMENTS = "one dense tensor with tf.sequence_mask"

# By what to use: the names, and, as `SPACE.`, all names of a namespace that have no row of theirs.
INSTEAD = {
    "a function of the program, which builds its part of the graph where it's called": """
        wrap_function autograph. experimental. nondifferentiable_batch_function
    """,
    "Python's time.time(), outside of the graph": "timestamp",
    "isinstance and assert of Python, when the graph is built": "debugging.assert_shapes",
    "K.placeholder(sparse=True), or K.variable of a SciPy matrix": "SparseTensorSpec",
    "tf.assign_add of a variable, which sums": """
        ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
        sparse.SparseConditionalAccumulator
    """,
    "a lock of Python's threading": "CriticalSection",
    "a K tensor, kept by the program: values stay on the engine's device": """
        get_session_handle get_session_tensor delete_session_tensor
    """,
    PARTITION: """
        create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner
        variable_axis_size_partitioner
    """,
    "tf.variable_scope with custom_getter": "variable_creator_scope",
    "tf.set_random_seed": "get_seed random.get_seed",
    SETTING: """
        enable_tensor_equality enable_v2_behavior
        config. config.optimizer. config.threading.
        layers.experimental. user_ops. train.experimental.disable_mixed_precision_graph_rewrite
    """,
    "kameleon run --engine, and the engine's own settings of devices": """
        config.experimental. config.experimental_list_devices
        config.experimental_connect_to_host config.experimental_connect_to_cluster DeviceSpec
    """,
    "K functions, or kameleon.call of a function in C": """
        load_op_library load_library load_file_system_library
    """,
    SPEC: "TensorSpec TypeSpec OptionalSpec IndexedSlicesSpec TensorArraySpec RaggedTensorSpec",
    SEGMENTS: "RaggedTensor ragged.",
    "tf.float32 and the others, which are there": "QUANTIZED_DTYPES dtypes.QUANTIZED_DTYPES",
    # numbers drawn
    GENERATOR: """
        random. random.experimental.
        image.random_jpeg_quality
        nn.fractional_avg_pool nn.fractional_max_pool
    """,
    "tf.image.crop_and_resize; its pixels outside are noise of a generator of TensorFlow's own": """
        image.extract_glimpse
    """,
    SAMPLED: """
        nn.all_candidate_sampler nn.compute_accidental_hits
        nn.learned_unigram_candidate_sampler random.all_candidate_sampler
        random.learned_unigram_candidate_sampler
    """,
    "tf.distributions.Normal, Uniform, Bernoulli or Categorical, or the density by tf.lgamma": """
        distributions.
    """,
    # networks
    "K.rnn, or layers of Keras (LSTM, GRU, SimpleRNN, RNN over a cell)": """
        nn.rnn_cell. nn.static_state_saving_rnn
    """,
    "tf.nn.convolution with dilation_rate": "nn.with_space_to_batch",
    OPERATOR: """
        linalg.LinearOperatorBlockDiag linalg.LinearOperatorCirculant
        linalg.LinearOperatorCirculant2D linalg.LinearOperatorCirculant3D
        linalg.LinearOperatorHouseholder linalg.LinearOperatorKronecker
        linalg.LinearOperatorToeplitz linalg.LinearOperatorZeros
    """,
    # input and files
    "NumPy arrays, keras.utils.Sequence, or a generator for model.fit_generator": "data.",
    QUEUE: """
        train.maybe_batch train.maybe_batch_join train.maybe_shuffle_batch
        train.maybe_shuffle_batch_join train.limit_epochs
    """,
    READER: """
        FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader TextLineReader
        WholeFileReader train.string_input_producer
    """,
    FILES: "matching_files read_file write_file io. train.match_filenames_once resource_loader.",
    "a dictionary of Python, outside of the graph": "lookup. lookup.experimental.",
    "layers of Keras on arrays": "feature_column.",
    "tf.estimator.Estimator with a model_fn, or a model of Keras": "estimator.",
    "json or protobuf of Python, outside of the graph": "io.decode_proto io.encode_proto",
    "tempfile of Python": "test.",
    # models, graphs and records of them
    SAVED: """
        saved_model. saved_model.builder. saved_model.experimental. saved_model.loader.
        saved_model.main_op. saved_model.signature_def_utils. saved_model.utils. graph_util.
        train.write_graph train.export_meta_graph io.write_graph
        MetaGraphDef TensorInfo NodeDef NameAttrList AttrValue
    """,
    "K.function(…).save(path) here, or TensorFlow 2's converter on a model of its own": "lite.",
    "tf.summary.scalar, histogram or image, with tf.summary.FileWriter": """
        summary. SummaryMetadata Event SessionLog LogMessage
    """,
    "cProfile of Python, or the engine's own profiler": "profiler. train.ProfilerHook",
    "logging of Python, whose logger 'tensorflow' is the one here": "logging.",
    # training
    "tf.train.Saver": """
        train.Checkpoint train.CheckpointManager
        train.checkpoints_iterator train.SaverDef
        train.generate_checkpoint_state_proto train.experimental.PythonState
    """,
    "tf.Session, and tf.train.Saver": """
        train.SessionManager train.WorkerSessionCreator
    """,
    LOOP: """
        train.GlobalStepWaiterHook train.VocabInfo
    """,
    "one process, whose engine places its work": """
        distribute. distribute.cluster_resolver. distribute.experimental. train.ClusterDef
        contrib.distribute.
        train.ClusterSpec train.JobDef train.Server train.ServerDef train.replica_device_setter
    """,
    "the optimizer alone, in float32 or bfloat16": "train.experimental.",
    "the optimizer alone: one process trains here": "train.SyncReplicasOptimizer",
    "scipy.optimize.minimize with a K.function": "contrib.opt.ScipyOptimizerInterface",
    "tf.metrics.precision_at_k, or scikit-learn": """
        metrics.average_precision_at_k metrics.sparse_average_precision_at_k
    """,
    "a file of the program's own: tensors hold no strings here": "summary.text",
    "a file of the program's own, by scipy.io.wavfile": "summary.audio",
    "tf.train.GradientDescentOptimizer": """
        train.sdca_fprint train.sdca_optimizer train.sdca_shrink_l1
    """,
    "tf.quantization.quantize_and_dequantize": "train.do_quantize_training_on_graphdef",
    "kameleon run --engine jax, which compiles by XLA and runs on TPUs where JAX does": """
        tpu. tpu.experimental. xla.experimental. contrib.tpu.
    """,
    "K.eval, K.function or a session, which give values, and leave the call out": """
        enable_eager_execution
    """,
    "the code that builds the graph, and tf.train.Saver().restore, which reads the values": """
        train.import_meta_graph
    """,
    "the code that builds the graph, or its weights as arrays or as a Keras model": """
        import_graph_def
    """,
    "except of the classes in tf.errors": "errors.",
}

# What to say of a name without a row above.
OTHERWISE = "K functions (such as K.sum, K.dot, K.switch) instead"


def _by_name() -> dict[str, str]:
    found: dict[str, str] = {}
    for use, names in INSTEAD.items():
        for name in names.split():
            found[name.rstrip(".")] = use
    return found


HINTS = _by_name()

CODED = """
    decode_png decode_jpeg decode_image decode_bmp decode_gif decode_and_crop_jpeg encode_png
    encode_jpeg is_jpeg extract_jpeg_shape adjust_jpeg_quality random_jpeg_quality
"""

# For names that are there where TensorFlow is installed, what to use elsewhere.
HINTS |= {
    "strings": "Python's strings, outside of the graph",
    "python_io": "arrays in NumPy's files",
    **dict.fromkeys(
        (f"train.{name}" for name in ("Example", "Features", "Feature", "SequenceExample")),
        "arrays in NumPy's files",
    ),
    **dict.fromkeys(
        (f"image.{name}" for name in CODED.split()),
        "Pillow, or keras.preprocessing.image, outside of the graph, and feed the array",
    ),
    "linalg": "numpy.linalg or scipy.linalg through kameleon.call",
    "signal": "numpy.fft or scipy.signal through kameleon.call",
}


def hint(name: str) -> str | None:
    """What to use in place of a name: the words of the longest part that there are words of."""
    parts = name.split(".")
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((HINTS[path] for path in known if path in HINTS), None)
