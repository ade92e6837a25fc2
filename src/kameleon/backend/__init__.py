"""The K surface: the documented functions, a file for each of their chapters.

    from kameleon import backend as K

Importing it reads `keras.json` (and writes one where there is none), chooses the engine, and says
which one on standard error.
"""

from __future__ import annotations

from . import (
    activations,
    configuration,
    control,
    convolution,
    creation,
    ctc,
    elementwise,
    functions,
    linear,
    losses,
    normalization,
    operators,
    pooling,
    random,
    reductions,
    resizing,
    session,
    shaping,
    sparse,
    updates,
    values,
)
from ._choice import choose
from .activations import (
    elu,
    hard_sigmoid,
    relu,
    sigmoid,
    softmax,
    softplus,
    softsign,
    tanh,
)
from .configuration import (
    backend,
    cast_to_floatx,
    epsilon,
    floatx,
    image_data_format,
    image_dim_ordering,
    normalize_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_image_dim_ordering,
)
from .control import (
    custom_gradient,
    foldl,
    foldr,
    in_test_phase,
    in_train_phase,
    map_fn,
    rnn,
    switch,
    while_loop,
)
from .convolution import (
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    depthwise_conv2d,
    separable_conv1d,
    separable_conv2d,
)
from .creation import (
    cast,
    constant,
    count_params,
    dtype,
    eye,
    get_variable_shape,
    identity,
    int_shape,
    is_keras_tensor,
    is_placeholder,
    is_tensor,
    is_variable,
    ndim,
    ones,
    ones_like,
    placeholder,
    shape,
    size,
    variable,
    zeros,
    zeros_like,
)
from .ctc import (
    ctc_batch_cost,
    ctc_decode,
    ctc_label_dense_to_sparse,
)
from .elementwise import (
    abs,
    clip,
    cos,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    not_equal,
    pow,
    round,
    sign,
    sin,
    sqrt,
    square,
)
from .functions import (
    eval,
    function,
    gradients,
    stop_gradient,
)
from .linear import (
    batch_dot,
    dot,
    gather,
    transpose,
)
from .losses import (
    binary_crossentropy,
    categorical_crossentropy,
    in_top_k,
    sparse_categorical_crossentropy,
)
from .normalization import (
    batch_normalization,
    l2_normalize,
    normalize_batch_in_training,
)
from .pooling import (
    bias_add,
    local_conv1d,
    local_conv2d,
    pool2d,
    pool3d,
)
from .random import (
    dropout,
    random_binomial,
    random_normal,
    random_normal_variable,
    random_uniform,
    random_uniform_variable,
    truncated_normal,
)
from .reductions import (
    all,
    any,
    argmax,
    argmin,
    cumprod,
    cumsum,
    logsumexp,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from .resizing import (
    arange,
    one_hot,
    repeat,
    repeat_elements,
    resize_images,
    resize_volumes,
    spatial_2d_padding,
    spatial_3d_padding,
    temporal_padding,
    tile,
)
from .session import (
    Session,
    clear_session,
    control_dependencies,
    get_session,
    get_uid,
    learning_phase,
    manual_variable_initialization,
    name_scope,
    reset_uids,
    set_learning_phase,
    set_session,
)
from .shaping import (
    batch_flatten,
    concatenate,
    expand_dims,
    flatten,
    permute_dimensions,
    reshape,
    reverse,
    slice,
    squeeze,
    stack,
)
from .sparse import (
    is_sparse,
    to_dense,
)
from .updates import (
    moving_average_update,
    update,
    update_add,
    update_sub,
)
from .values import (
    batch_get_value,
    batch_set_value,
    get_value,
    print_tensor,
    set_value,
)

__all__ = [
    *configuration.__all__,
    *session.__all__,
    *sparse.__all__,
    *creation.__all__,
    *updates.__all__,
    *linear.__all__,
    *reductions.__all__,
    *elementwise.__all__,
    *normalization.__all__,
    *shaping.__all__,
    *resizing.__all__,
    *values.__all__,
    *functions.__all__,
    *control.__all__,
    *activations.__all__,
    *losses.__all__,
    *convolution.__all__,
    *pooling.__all__,
    *random.__all__,
    *ctc.__all__,
]

operators.install()
globals().update(choose(__all__))
