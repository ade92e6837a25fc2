"""The programs of `turns` where branches and loops are functions."""

import tensorflow as tf

tf.compat.v1.enable_control_flow_v2()

import turns  # noqa: E402, F401  (its programs are this topic's)
from recording import main  # noqa: E402

if __name__ == "__main__":
    main()
