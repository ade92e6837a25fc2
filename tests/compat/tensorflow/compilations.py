"""How often regions are compiled while programs run with ever new sizes, in the last ten of forty
times; and how many turns of loops aren't compiled then.

kameleon run compilations.py
"""

import json
import sys
from pathlib import Path

import tensorflow as tf

from kameleon.compat.tensorflow.running import compiled, steps

sys.path.insert(0, str(Path(__file__).with_name("programs")))
from sizes import BUILDERS

LAST, ALL = 31, 41


def counting(owner, name):
    """A list of one number: how often a method is called from now on."""
    count, method = [0], getattr(owner, name)

    def counted(*arguments):
        count[0] += 1
        return method(*arguments)

    setattr(owner, name, counted)
    return count


def main():
    count = counting(compiled.Region, "compiled")
    turns = counting(steps.Next, "act")
    found = {}
    for name, build in BUILDERS.items():
        with tf.Graph().as_default(), tf.Session() as session:
            fetches, feeds = build()
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            for size in range(1, ALL):
                if size == LAST:
                    count[0] = turns[0] = 0
                session.run(fetches, feeds(size))
            found[name] = count[0], turns[0]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
