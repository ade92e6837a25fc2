"""Densities, entropies and divergences of distributions."""

import numpy as np

MADE = {
    "normal": "tf.distributions.Normal(m, tf.exp(s))",
    "normal of numbers": "tf.distributions.Normal(0.5, 2.0)",
    "uniform": "tf.distributions.Uniform(m - 1.0, m + tf.exp(s))",
    "bernoulli": "tf.distributions.Bernoulli(logits=m)",
    "bernoulli by chances": "tf.distributions.Bernoulli(probs=tf.sigmoid(m))",
    "categorical": "tf.distributions.Categorical(logits=t)",
    "categorical by chances": "tf.distributions.Categorical(probs=tf.nn.softmax(t))",
}
VALUES = {"normal": "x", "uniform": "x", "bernoulli": "b", "categorical": "c"}
PAIRS = {
    "normals": ("tf.distributions.Normal(m, tf.exp(s))", "tf.distributions.Normal(s, 2.0)"),
    "bernoullis": ("tf.distributions.Bernoulli(m)", "tf.distributions.Bernoulli(s)"),
    "categoricals": ("tf.distributions.Categorical(t)", "tf.distributions.Categorical(2.0 * t)"),
}
CASES = {}
for _name, _made in MADE.items():
    _value = VALUES[_name.split()[0]]
    CASES["density, " + _name] = "%s.prob(%s)" % (_made, _value)
    CASES["logarithm, " + _name] = "%s.log_prob(%s)" % (_made, _value)
    CASES["entropy, " + _name] = "%s.entropy()" % _made
    CASES["draws, " + _name] = "result = np.array(%s.sample([5]).get_shape().as_list())" % _made
OF_KINDS = {
    "normal": "variance() stddev() mode() cdf(x) log_cdf(x) survival_function(x)",
    "uniform": "mean() variance() stddev() cdf(x) survival_function(x)",
    "bernoulli": "mean() variance() stddev() mode()",
    "categorical": "mode()",
}
for _name, _made in MADE.items():
    for _call in OF_KINDS[_name.split()[0]].split():
        CASES["%s, %s" % (_call, _name)] = "%s.%s" % (_made, _call)
for _name, _pair in PAIRS.items():
    CASES["cross entropy, " + _name] = "%s.cross_entropy(%s)" % _pair
    CASES["divergence, " + _name] = "tf.distributions.kl_divergence(%s, %s)" % _pair


def given():
    """The arrays of the programs."""
    rng = np.random.RandomState(4)
    return {
        "m": rng.randn(3).astype("float32"),
        "s": rng.randn(3).astype("float32"),
        "x": rng.randn(3).astype("float32"),
        "t": rng.randn(2, 4).astype("float32"),
        "b": np.array([0, 1, 1], "int32"),
        "c": np.array([3, 0], "int32"),
    }
