"""Records the programs beside it by TensorFlow 1.15 as if it were TensorFlow 2.

    python record.py | tail -1 > ../recorded_tf_keras_2.json
"""
import os
import sys

import tensorflow.compat.v2 as tf

tf.enable_v2_behavior()
sys.modules['tensorflow'] = tf
for name in ('', '.layers', '.models', '.optimizers', '.callbacks', '.backend', '.utils'):
    module = tf.keras
    for part in name.split('.')[1:]:
        module = getattr(module, part)
    sys.modules['tensorflow.keras' + name] = module

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'tf_keras')]

if __name__ == '__main__':
    import json

    import many

    names = sorted(n[:-3] for n in os.listdir(HERE) if n.endswith('.py') and n != 'record.py')
    print('\n' + json.dumps(dict((n, many.result_of(n)) for n in names), sort_keys=True))
