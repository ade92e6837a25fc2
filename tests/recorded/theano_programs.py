"""What programs of Theano gave, recorded on Theano 1.0.4 with floatX=float32 and NumPy 1.16.

Each case is a program that gives `seen`; what it gives is written as plain data.
"""

import json
import sys

BEGIN = (
    "import numpy as np\nimport theano\nimport theano.tensor as T\n"
    "from theano import function, shared\n"
    "X = np.arange(6, dtype='float32').reshape(2, 3)\n"
    "x, y, v = T.matrix('x'), T.matrix('y'), T.vector('v')\n"
)

# Expressions of x (2, 3), y = 1 - x / 2 and v (3,): what they give.
EXPRESSIONS = r"""
T.switch(x > 2, 1., 0.)
T.switch(T.gt(x, 2), x, -1)
T.switch(x[0] > 1, x, 0)
T.where(T.eq(x, 3), 1, 2)
x.sum()
x.sum(axis=0)
x.sum(axis=(0, 1), keepdims=True)
x.mean(axis=1, keepdims=True)
T.max(x, axis=1)
T.prod(x + 1, axis=-1)
T.std(x, axis=0)
T.var(x)
T.sum(T.eq(x, y))
T.mean(T.neq(x, y))
T.any(x > 4, axis=1)
T.all(x >= 0)
T.argmax(x, axis=1)
x.argmin(axis=0)
T.argmax(x)
x.nonzero()[0]
x[(x > 2).nonzero()]
T.nonzero(x)[1]
x[T.arange(x.shape[0]), T.cast(T.argmax(x, axis=1), 'int32')]
x[[1, 0]]
x[:, ::-1]
x[0, 1:]
x[1]
x[-1, -1]
x[np.array([0, 1]), np.array([2, 0])]
x.T
x.dot(y.T)
T.dot(x, v)
T.dot(v, v)
T.dot(x, x.T)
x.dimshuffle(1, 0)
v.dimshuffle('x', 0) * x
v.dimshuffle(0, 'x')
x.dimshuffle(0, 'x', 1)
x.flatten()
x.flatten(2)
T.flatten(x.dimshuffle('x', 0, 1), 2)
x.reshape((3, 2))
x.reshape((x.shape[0] * x.shape[1],))
x.reshape((x.shape[1], -1))
T.reshape(x, (-1, 1))
x.transpose()
T.transpose(x, (1, 0))
x.astype('int32')
T.cast(x, 'int64')
x.clip(1, 4)
T.clip(x, 1, 4)
T.maximum(x, 2)
T.minimum(x, y)
T.maximum(0, y)
T.concatenate([x, y], axis=1)
T.stack([x, y]).shape[0]
T.stack([v, v], axis=1)
T.join(0, x, y)
T.zeros_like(x)
T.ones((2, 2))
T.zeros((x.shape[0], 2))
T.ones_like(v)
T.alloc(2., 2, 3)
T.eye(3)
T.arange(5)
T.arange(1, 3, .5)
T.arange(x.shape[1])
T.outer(v, v)
T.sqr(y)
T.sqrt(T.abs_(y))
abs(y)
T.exp(-x)
T.log(x + 1)
T.log1p(x)
T.tanh(y)
T.sgn(y)
T.floor(y)
T.ceil(y)
T.inv(x + 1)
T.neg(x)
x ** 2
x % 2
x // 2
T.pow(x, 2)
T.add(x, y, x)
T.mul(x, y)
T.true_div(x, 2)
T.int_div(x, 2)
T.and_(x > 1, x < 4)
T.or_(x < 1, x > 4)
T.repeat(v, 2)
T.repeat(x, 2, axis=1)
T.tile(x, (2, 1))
T.tril(x)
T.triu(x, 1)
T.tri(2, 3)
T.cumsum(v)
T.take(x, [0, 2], axis=1)
x.take([1], axis=0)
x.norm(2)
x.norm(2, axis=1)
T.shape_padleft(v)
T.shape_padright(v)
T.set_subtensor(x[0], 9.)
T.set_subtensor(x[:, 1], v[:2])
T.inc_subtensor(x[1:, ::2], 10.)
T.set_subtensor(x[[0, 1], [2, 0]], [7., 8.])
T.inc_subtensor(v[[0, 0, 2]], 1.)
T.set_subtensor(v[[0, 0]], np.float32([1., 2.]))
T.nnet.softmax(x)
T.nnet.logsoftmax(x)
T.nnet.sigmoid(y)
T.nnet.relu(y)
T.nnet.relu(y, .1)
T.nnet.softplus(y)
T.nnet.hard_sigmoid(y)
T.nnet.elu(y)
T.nnet.categorical_crossentropy(T.nnet.softmax(x), T.nnet.softmax(y))
T.nnet.categorical_crossentropy(T.nnet.softmax(x), T.cast(T.arange(2), 'int32'))
T.nnet.binary_crossentropy(T.nnet.sigmoid(x), T.nnet.sigmoid(y)).mean()
T.nnet.conv2d(x.dimshuffle('x', 'x', 0, 1), np.float32([[[[1, 2]]]]))
T.nnet.conv2d(x.dimshuffle('x', 'x', 0, 1), np.float32([[[[1, 2], [3, 4]]]]), border_mode='full')
T.nnet.conv2d(x.dimshuffle('x', 'x', 0, 1), np.float32([[[[1, 2]]]]), filter_flip=False)
T.grad(T.sum(x ** 2), x)
T.grad((x * y).sum(), [x, y])[1]
theano.gradient.jacobian((x[0] ** 2), x)[1]
T.hessian(T.sum(v ** 3), v)
theano.scan(lambda r: r.sum(), sequences=x)[0]
theano.scan(lambda r, s: r + s, sequences=x, outputs_info=T.zeros_like(x[0]))[0]
theano.scan(lambda s, a: s * a, outputs_info=T.ones_like(v), non_sequences=v, n_steps=3)[0][-1]
theano.scan(lambda r, s: [s + r, s * 2], sequences=[x], outputs_info=[x[0], None])[0][1]
theano.scan(lambda r: r * 2, sequences=x, go_backwards=True)[0]
theano.scan(lambda a, b: a + b, sequences=dict(input=v, taps=[-1, 0]))[0]
theano.scan(lambda a, b: a + b, outputs_info=dict(initial=v[:2], taps=[-2, -1]), n_steps=4)[0]
theano.scan(lambda i, a: i * a, sequences=T.arange(3), non_sequences=x)[0]
T.grad(theano.scan(lambda s, a: s * a, outputs_info=T.ones_like(v), non_sequences=v, n_steps=3)[0][-1].sum(), v)
theano.map(lambda r: r.max(), x)[0]
theano.reduce(lambda r, s: r + s, x, T.zeros_like(x[0]))[0]
theano.clone(x * 2, replace={x: y})
ifelse(T.lt(x.sum(), 3), x, y)
pool.pool_2d(x.dimshuffle('x', 'x', 0, 1), (1, 3), ignore_border=True)
pool.pool_2d(x.dimshuffle('x', 'x', 0, 1), (2, 1), ignore_border=True, mode='average_exc_pad')
"""
ASK = (
    BEGIN
    + "from theano.ifelse import ifelse\nfrom theano.tensor.signal import pool\n"
    + "z = %s\nf = function([x, y, v], z, on_unused_input='ignore')\n"
    + "seen = f(X, 1 - X / 2, X[1] + 1)\n"
)

PROGRAMS = (
    "a, b = T.scalars('a', 'b')\nf = function([a, b], a + b)\nseen = [f(2, 3), f(1.5, 2), str(f(1, 1).dtype)]",
    "a = T.dscalar('a')\nf = function([a], [a * 2, a ** 2])\nseen = f(3)",
    "f = function([x], x * 2, allow_input_downcast=True)\nseen = f(np.ones((1, 2)))",
    "f = function([x], x * 2)\ntry: f(np.ones((1, 2))); seen = 'taken'\nexcept TypeError: seen = 'refused'",
    "f = function([x], x * 2)\nseen = f([[1, 2]])",
    "try: function([x, y], x); seen = 'made'\nexcept Exception as e: seen = type(e).__name__",
    "f = function([x, y], x, on_unused_input='ignore')\nseen = f(X, X)",
    "s = shared(0)\ni = T.iscalar('i')\nf = function([i], s, updates=[(s, s + i)])\nseen = [f(1), f(10), s.get_value()]",
    "s = shared(np.float32([1, 2]), name='s', borrow=True)\nf = function([], updates={s: s * 2})\n"
    "f()\ns.set_value(s.get_value() + 1)\nf()\nseen = s.get_value(borrow=True)",
    "a, b = shared(np.float32(1)), shared(np.float32(2))\nf = function([], [a, b], updates=[(a, b), (b, a + b)])\nseen = [f(), f(), a.get_value()]",
    "s = shared(X)\nf = function([], x.sum(), givens={x: s})\nseen = f()",
    "data = shared(X)\ni = T.lscalar()\nf = function([i], (x * 2).sum(), givens={x: data[i: i + 1]})\nseen = [f(0), f(1)]",
    "f = function([x, theano.In(v, value=np.float32([1, 1, 1]), name='v')], x.dot(v))\nseen = [f(X), f(X, [1, 2, 3]), f(X, v=[0, 0, 1])]",
    "seen = (x * 2).eval({x: X})",
    "seen = (T.constant(3) * 2).eval()",
    "t = T.tensor3('t')\nf = function([t], t.sum(axis=2).dimshuffle(1, 0))\nseen = f(np.arange(8, dtype='float32').reshape(2, 2, 2))",
    "r = T.row('r')\nseen = function([r, x], r + x)(np.float32([[1, 2, 3]]), X)",
    "i = T.ivector('i')\nseen = function([i], i * 2)([1, 2])",
    "k = T.TensorType('float32', (False, False, False))('k')\nseen = function([k], k.ndim + k.sum())(np.ones((1, 1, 2), 'float32'))",
    "theano.config.floatX = 'float32'\nseen = [theano.config.floatX, T.matrix().dtype, str(theano._asarray([1], 'floatX').dtype)]",
    "from theano.tensor.shared_randomstreams import RandomStreams\ns = RandomStreams(seed=3)\nu = s.uniform((50, 2))\n"
    "f = function([], u)\na, b = f(), f()\nseen = [a.shape, bool(a.min() >= 0), bool(a.max() <= 1), bool((a != b).any())]",
    "from theano.sandbox.rng_mrg import MRG_RandomStreams as R\ns = R(3)\n"
    "f = function([x], s.binomial(size=x.shape, p=.5, dtype='float32') * x)\na = f(np.ones((40, 40), 'float32'))\n"
    "seen = [a.shape, sorted(set(a.ravel())), bool(abs(a.mean() - .5) < .1), str(a.dtype)]",
    "s = T.shared_randomstreams.RandomStreams(3)\nf = function([], s.normal((2000,), avg=2., std=.5))\na = f()\n"
    "seen = [bool(abs(a.mean() - 2) < .1), bool(abs(a.std() - .5) < .1)]",
    # logistic regression, as the tutorial has it
    "rng = np.random.RandomState(0)\nD = (rng.randn(40, 5).astype('float32'), rng.randint(size=40, low=0, high=2).astype('float32'))\n"
    "w = shared(rng.randn(5).astype('float32'), name='w')\nb = shared(np.float32(0.), name='b')\nt = T.vector('t')\n"
    "p = 1 / (1 + T.exp(-T.dot(x, w) - b))\nprediction = p > 0.5\nxent = -t * T.log(p) - (1 - t) * T.log(1 - p)\n"
    "cost = xent.mean() + 0.01 * (w ** 2).sum()\ngw, gb = T.grad(cost, [w, b])\n"
    "train = function(inputs=[x, t], outputs=[prediction, xent], updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb)))\n"
    "predict = function(inputs=[x], outputs=prediction)\n"
    "for i in range(100):\n    pred, err = train(D[0], D[1])\nseen = [w.get_value(), b.get_value(), predict(D[0])[:5]]",
    # softmax regression over minibatches, of classes by their numbers
    "rng = np.random.RandomState(1)\ndata = shared(rng.randn(30, 4).astype('float32'), borrow=True)\n"
    "labels = T.cast(shared(rng.randint(0, 3, 30).astype('float32')), 'int32')\nt, index = T.ivector('t'), T.lscalar()\n"
    "W, b = shared(np.zeros((4, 3), 'float32')), shared(np.zeros(3, 'float32'))\np = T.nnet.softmax(T.dot(x, W) + b)\n"
    "cost = -T.mean(T.log(p)[T.arange(t.shape[0]), t])\nerrors = T.mean(T.neq(T.argmax(p, axis=1), t))\n"
    "params = [W, b]\nupdates = [(q, q - 0.5 * g) for q, g in zip(params, T.grad(cost, params))]\n"
    "train = function([index], cost, updates=updates, givens={x: data[index * 10:(index + 1) * 10], t: labels[index * 10:(index + 1) * 10]})\n"
    "costs = [float(train(i % 3)) for i in range(12)]\n"
    "test = function([], errors, givens={x: data, t: labels})\nseen = [costs, test(), W.get_value()]",
    # a hidden layer, with momentum
    "rng = np.random.RandomState(2)\nA = rng.randn(16, 3).astype('float32')\nB = (A[:, :1] * A[:, 1:2] > 0).astype('float32')\n"
    "def weights(*shape): return shared((rng.randn(*shape) * .5).astype('float32'))\n"
    "w1, b1, w2, b2 = weights(3, 8), weights(8), weights(8, 1), weights(1)\nparams = [w1, b1, w2, b2]\n"
    "h = T.tanh(T.dot(x, w1) + b1)\np = T.nnet.sigmoid(T.dot(h, w2) + b2)\ncost = T.nnet.binary_crossentropy(p, y).mean()\n"
    "updates = []\nfor q in params:\n    m = shared(q.get_value() * 0., broadcastable=q.broadcastable)\n"
    "    updates += [(q, q - .3 * m), (m, .9 * m + .1 * T.grad(cost, q))]\n"
    "train = function([x, y], cost, updates=updates)\nseen = [float(train(A, B)) for _ in range(30)][::10]",
    # a recurrent network
    "rng = np.random.RandomState(3)\nW = shared(rng.randn(2, 2).astype('float32') * .5)\nU = shared(rng.randn(3, 2).astype('float32'))\n"
    "def step(u, h, W, U): return T.tanh(T.dot(u, U) + T.dot(h, W))\n"
    "h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros((2,)), non_sequences=[W, U])\n"
    "cost = (h[-1] ** 2).sum()\nf = function([x], [cost] + T.grad(cost, [W, U]))\nseen = f(X)",
    # powers by a scan, and a polynomial
    "k = T.iscalar('k')\nA = T.vector('A')\nresult, updates = theano.scan(fn=lambda prior, A: prior * A, outputs_info=T.ones_like(A), non_sequences=A, n_steps=k)\n"
    "power = function(inputs=[A, k], outputs=result[-1], updates=updates)\nseen = [power(np.arange(4, dtype='float32'), 2), power(np.arange(4, dtype='float32'), 4)]",
    "c = T.vector('c')\nz = T.scalar('z')\nparts, _ = theano.scan(fn=lambda coefficient, power, free: coefficient * (free ** power), outputs_info=None,"
    " sequences=[c, T.arange(10000)], non_sequences=z)\nf = function([c, z], parts.sum())\nseen = f(np.float32([1, 0, 2]), 3)",
)
CASES = tuple(ASK % line for line in EXPRESSIONS.strip().split("\n")) + tuple(
    BEGIN + text for text in PROGRAMS
)


def plain(x):
    """As JSON has it: arrays as lists."""
    if hasattr(x, "tolist"):
        return x.tolist()
    return [plain(item) for item in x] if isinstance(x, (list, tuple)) else x


def evaluated(code, file="/home/me/train.py"):
    """What a program gives."""
    space = {"__name__": "train", "__file__": file}
    exec(compile(code, file, "exec"), space)
    return plain(space["seen"])


if __name__ == "__main__":
    found = {}
    for case in CASES:
        try:
            found[case] = evaluated(case)
        except Exception as error:
            print("no result: %s %r" % (case, error))
    with open(sys.argv[1], "w") as written:  # a line for each case
        lines = ["%s: %s" % (json.dumps(case), json.dumps(found[case])) for case in found]
        written.write("{\n" + ",\n".join(lines) + "\n}\n")
