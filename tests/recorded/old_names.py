"""What names that have left Python, NumPy, SciPy, pandas, h5py and scikit-learn gave.

Recorded on Python 3.7 with pandas 0.25.3, SciPy 1.1.0, h5py 2.8.0, Pillow 5.4.1 and NumPy 1.18:
each case is a piece of a program that gives `seen`; what it gives is written as plain data.
The cases in `old_lines.txt`, a line each, were recorded with NumPy 1.16.6 (later ones with 1.18.5),
h5py 2.10 and Pillow 6.2 (9.5).
"""

import json
import os
import sys
import tempfile
import warnings

FRAME = "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': [1, 2, 3], 'b': [4., 5., 6.]})\n"
NAMED = FRAME + "df.index = ['x', 'y', 'z']\n"
SERIES = "import pandas as pd, numpy as np\ns = pd.Series([3., 1., 2.], index=['p', 'q', 'r'])\n"
HOLES = FRAME + "df.loc[1, 'b'] = np.nan\n"
TEXT = "import io\nimport pandas as pd\n"
TESTS = "import unittest\nclass T(unittest.TestCase):\n  def runTest(self): pass\nt = T()\n"
IMAGE = (
    "import numpy as np\nfrom scipy import misc\n"
    "image = (np.arange(7 * 9 * 3).reshape(7, 9, 3) * 5 % 256).astype(np.uint8)\n"
    "grey = (np.arange(35).reshape(5, 7) * 37 % 101) / 7.\n"
)
FILE = (
    "import h5py, numpy as np\n"
    "with h5py.File(path) as f:\n"
    "    f['x'] = np.arange(3)\n"
    "    f.attrs['text'] = 'abc'.encode('utf8')\n"
    "    f.attrs['names'] = [b'a', b'bc']\n"
    "    %s\n"
)

CASES = (
    # rows
    FRAME + "seen = df.append(df)",
    FRAME + "seen = df.append(df, ignore_index=True)",
    FRAME + "seen = df.append({'a': 7, 'b': 8.}, ignore_index=True)",
    FRAME + "seen = df.append(pd.Series([7, 8.], index=['a', 'b'], name=9))",
    FRAME + "seen = df.append([df, df], ignore_index=True)",
    FRAME + "seen = df.append([{'a': 7, 'b': 8.}], ignore_index=True)",
    FRAME + "seen = df.append({'b': 8.}, ignore_index=True)",
    FRAME + "seen = pd.DataFrame().append(df)",
    SERIES + "seen = s.append(s)",
    SERIES + "seen = s.append(s, ignore_index=True)",
    SERIES + "seen = s.append([s, s])",
    # by labels and positions
    FRAME + "seen = df.ix[1]",
    FRAME + "seen = df.ix[0:1]",
    FRAME + "seen = df.ix[1, 'b']",
    FRAME + "seen = df.ix[1, 1]",
    FRAME + "seen = df.ix[:, 'a']",
    FRAME + "seen = df.ix[:, 0]",
    FRAME + "seen = df.ix[:, ['b', 'a']]",
    FRAME + "seen = df.ix[df.a > 1, 'b']",
    FRAME + "seen = df.ix[[0, 2]]",
    FRAME + "seen = df.ix[:, :1]",
    FRAME + "df.ix[1, 'b'] = 9.\nseen = df",
    FRAME + "df.ix[df.a > 1, 'a'] = 0\nseen = df",
    FRAME + "df.ix[3] = [7, 8.]\nseen = df",
    NAMED + "seen = df.ix['y']",
    NAMED + "seen = df.ix[1]",
    NAMED + "seen = df.ix['x':'y']",
    NAMED + "seen = df.ix[0:1]",
    NAMED + "seen = df.ix['y', 1]",
    NAMED + "seen = df.ix[-1, 'a']",
    SERIES + "seen = s.ix['q']",
    SERIES + "seen = s.ix[1]",
    SERIES + "seen = s.ix[['p', 'r']]",
    # values
    FRAME + "seen = df.as_matrix()",
    FRAME + "seen = df.as_matrix(['b'])",
    FRAME + "seen = df.get_value(1, 'b')",
    NAMED + "seen = df.get_value(1, 1, takeable=True)",
    FRAME + "seen = df.set_value(1, 'b', 9.)",
    SERIES + "seen = s.get_value('q')",
    SERIES + "seen = s.as_matrix()",
    SERIES + "seen = s.get_values()",
    FRAME + "seen = df.get_values()",
    NAMED + "seen = df.lookup(['x', 'z'], ['b', 'a'])",
    SERIES + "seen = list(s.iteritems())",
    FRAME + "seen = [name for name, column in df.iteritems()]",
    FRAME + "seen = pd.DataFrame.from_items([('b', [1]), ('a', [2])])",
    FRAME + "seen = pd.DataFrame.from_items([('r', [1, 2])], orient='index', columns=['u', 'v'])",
    # numbers
    FRAME + "seen = df.mad()",
    FRAME + "seen = df.mad(axis=1)",
    HOLES + "seen = df.mad()",
    SERIES + "seen = s.mad()",
    FRAME + "seen = df.clip_lower(2)",
    SERIES + "seen = s.clip_upper(2.)",
    SERIES + "seen = s.nonzero()[0]",
    SERIES + "seen = s.ravel()",
    SERIES + "seen = s.compress([True, False, True])",
    SERIES + "seen = s.real",
    SERIES + "seen = s.itemsize",
    FRAME + "seen = df.applymap(lambda x: x * 2)",
    FRAME + "seen = df.get_dtype_counts()",
    # by sets of labels
    FRAME + "seen = df[{'b'}]",
    SERIES + "seen = s[{'q'}]",
    # by position what must be named today
    FRAME + "seen = df.drop('a', 1)",
    FRAME + "seen = df.drop(0)",
    FRAME + "seen = df.drop('a', axis=1)",
    HOLES + "seen = df.dropna(0)",
    HOLES + "seen = df.dropna(1)",
    HOLES + "seen = df.fillna(0)",
    HOLES + "seen = df.fillna(method='ffill')",
    HOLES + "seen = df.fillna(method='bfill', axis=1)",
    HOLES + "seen = df.b.fillna(method='pad')",
    HOLES + "seen = df.isnull().any(1)",
    FRAME + "seen = df.sort_values('a', 0, False)",
    FRAME + "seen = df.set_index('a', False)",
    FRAME + "seen = df.to_csv(None, ';')",
    FRAME + "seen = pd.concat([df, df], 1)",
    FRAME + "seen = pd.concat([df, df], 0)",
    # files of text
    TEXT + "seen = pd.read_csv(io.StringIO(u'a b\\n1 2\\n'), delim_whitespace=True)",
    TEXT + "seen = pd.read_csv(io.StringIO(u'a;b\\n1;2\\n'), ';')",
    TEXT + "seen = pd.read_csv(io.StringIO(u'a\\n1\\n2\\n'), squeeze=True)",
    TEXT + "seen = pd.read_csv(io.StringIO(u'1,2\\n'), header=None, prefix='X')",
    TEXT + "seen = pd.read_csv(io.StringIO(u'a,b\\n1,2\\n3,4,5\\n'), error_bad_lines=False)",
    TEXT + "seen = pd.read_table(io.StringIO(u'a\\tb\\n1\\t2\\n'))",
    # pandas
    "import pandas as pd\nseen = pd.np.zeros(2)",
    "import pandas as pd\nseen = pd.datetime(2019, 5, 1).year",
    "import pandas as pd\nseen = pd.value_counts(['a', 'b', 'a'])",
    "import pandas as pd\nseen = pd.Int64Index([1, 2]).tolist()",
    "from pandas.util.testing import assert_frame_equal\nseen = assert_frame_equal.__name__",
    "from pandas.io.json import json_normalize\nseen = json_normalize([{'a': {'b': 1}}])",
    # SciPy
    "from scipy import stats\nseen = stats.mode([[1, 2], [1, 3], [4, 3]])[0]",
    "from scipy import stats\nseen = stats.mode([1, 2, 2])[0][0]",
    "from scipy import stats\nseen = stats.mode([[1, 2], [2, 3]], axis=None).count",
    "import scipy.stats\nseen = scipy.stats.binom_test(3, 10, 0.4)",
    "import scipy.stats\nseen = scipy.stats.binom_test([3, 7])",
    "import scipy.stats\nseen = scipy.stats.itemfreq([3, 1, 3])",
    "from scipy.integrate import trapz\nseen = trapz([1, 2, 4], dx=.5)",
    "from scipy.integrate import simps\nseen = simps([1, 2, 4, 8, 16], dx=.5)",
    "from scipy.integrate import cumtrapz\nseen = cumtrapz([1, 2, 4], initial=0)",
    "import scipy.linalg\nseen = scipy.linalg.pinv2([[1., 2.], [3., 4.]])",
    "import numpy as np, scipy.linalg\nseen = scipy.linalg.kron(np.eye(2), np.ones((1, 2)))",
    *(
        "import numpy as np\nfrom scipy.optimize import minimize\n"
        "def f(x): return np.array([((x - 1.) ** 2).sum() + 2.])\n"
        "r = minimize(f, [0.], %s)\nseen = [np.shape(r.fun), np.round(r.fun, 4)]" % how
        for how in ("method='L-BFGS-B'", "bounds=[(2., 3.)]", "method='tnc'", "method='BFGS'")
    ),
    "from scipy.optimize import minimize\ndef f(x): return (x - 1.) ** 2, 2 * (x - 1.)\n"
    "seen = round(minimize(f, 3., (), 'L-BFGS-B', True).fun[0], 6)",
    "from scipy.misc import derivative\nseen = derivative(lambda x: x ** 3, 1.0, dx=1e-3)",
    "from scipy.misc import derivative\nseen = derivative(lambda x: x ** 4, 1., .1, n=2, order=5)",
    "from scipy.misc import central_diff_weights\nseen = central_diff_weights(7, 2)",
    "from scipy.misc import comb, factorial\nseen = [comb(5, 2), factorial(4)]",
    "from scipy.signal import ricker\nseen = ricker(6, 1.5)",
    "from scipy.signal import cwt, ricker\nseen = cwt([1., 0., 2., 5., 1.], ricker, [1, 2])",
    "from scipy.special import sph_harm\nseen = abs(sph_harm(1, 2, .3, .4))",
    "import scipy.sparse\nseen = scipy.sparse.csr_matrix([[1, 0], [2, 3]]).A",
    "import scipy.sparse\nseen = scipy.sparse.coo_matrix([[1, 0], [2, 3]]).H.toarray()",
    # SciPy's images
    IMAGE + "seen = misc.imresize(image, 50)",
    IMAGE + "seen = misc.imresize(image, .7, 'nearest')",
    IMAGE + "seen = misc.imresize(image, (5, 4), 'bicubic')",
    IMAGE + "seen = misc.imresize(image, (14, 18))",
    IMAGE + "seen = misc.imresize(image, (14, 18), 'lanczos')",
    IMAGE + "seen = misc.imresize(grey, (3, 3))",
    IMAGE + "seen = misc.imresize(grey, (10, 10), mode='F')",
    IMAGE + "seen = misc.imresize(image / 300., (4, 4))",
    IMAGE + "seen = misc.imrotate(image, 30)",
    IMAGE + "seen = misc.imrotate(grey, 90, 'nearest')",
    IMAGE + "seen = misc.bytescale(grey)",
    IMAGE + "seen = misc.bytescale(grey, cmin=2, cmax=9, high=200, low=10)",
    IMAGE + "seen = misc.fromimage(misc.toimage(grey))",
    IMAGE + "seen = misc.fromimage(misc.toimage(image), flatten=True)",
    IMAGE + "seen = misc.fromimage(misc.toimage(image.transpose(2, 0, 1)))",
    IMAGE + "seen = misc.fromimage(misc.toimage(grey, cmin=0., cmax=20.))",
    IMAGE + "misc.imsave(path + '.png', grey)\nseen = misc.imread(path + '.png')",
    IMAGE + "misc.imsave(path + '.png', image)\nseen = misc.imread(path + '.png', mode='L')",
    IMAGE + "misc.imsave(path + '.png', image)\nseen = misc.imread(path + '.png', flatten=True)",
    # HDF5
    FILE % "seen = f['x'].value",
    FILE % "seen = f.attrs['text'].decode('utf8')",
    FILE % "seen = f.attrs.get('text').decode('utf8')",
    FILE % "seen = f.attrs.get('none', 3)",
    FILE % "seen = [n.decode('utf8') for n in f.attrs['names']]",
    # NumPy
    "import numpy as np\nseen = np.shape([[1], [1, 2]])",
    "import numpy as np\nseen = np.copy([[1], [1, 2]])",
    "import numpy as np\nseen = [np.size([[1], [1, 2]]), np.ndim([[1], [1, 2]])]",
    "import numpy as np\nseen = [np.dtype(np.floating).name, np.dtype(np.integer).name]",
    "import numpy as np\nseen = isinstance(np.zeros(1).dtype, np.dtype), np.dtype('>i4').byteorder",
    "import numpy as np\nseen = [np.obj2sctype(x).__name__ for x in (np.floating, float, np.ones(1))]",
    # Python
    TESTS + "t.assertEquals(1, 1)\nt.assert_(True)\nt.failUnless(1)\nseen = 'all'",
    TESTS + "t.assertItemsEqual = 3\nseen = t.assertItemsEqual",
    TESTS + "t.assertRegexpMatches('abc', 'b')\nt.assertAlmostEquals(1., 1. + 1e-9)\nseen = 1",
    TESTS + "with t.assertRaisesRegexp(ValueError, 'x'): raise ValueError('x')\nseen = 'raised'",
    TESTS + "seen = unittest.makeSuite(T, 'run').countTestCases()",
    "import inspect\nseen = inspect.formatargspec(['a', 'b'], 'c', 'd', (1,))",
    "import random\nrandom.seed(3)\nseen = sorted(random.sample({1, 2, 3}, 3))",
    "import random\nx = [1, 2, 3, 4]\nrandom.shuffle(x, lambda: .3)\nseen = x",
    "import random\nrandom.seed(3)\nseen = random.randint(1, 5.0)",
    "import json\nseen = json.loads('[1]', encoding='utf8')",
    "import base64\nseen = base64.encodestring(b'abc').decode()",
    "import fractions\nseen = fractions.gcd(12, 18)",
    "import xml.etree.cElementTree as ET\nseen = ET.fromstring('<a><b/></a>').find('b').tag",
    "from html.parser import HTMLParser\nseen = HTMLParser().unescape('&lt;')",
    "import threading\nseen = threading.Thread().isAlive()",
    "from pipes import quote\nseen = quote('a b')",
    "from collections import Mapping\nseen = isinstance({}, Mapping)",
)

LINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "old_lines.txt")
with open(LINES, "rb") as lines:
    TEXTS = [line.decode("utf-8").strip() for line in lines]
CASES += tuple("import io, numpy as np\n" + text.replace(" ¶ ", "\n") for text in TEXTS)


def plain(x):
    """As JSON has it: tables by their parts, arrays as lists."""
    if hasattr(x, "columns"):
        return {
            "columns": plain(list(x.columns)),
            "index": plain(list(x.index)),
            "rows": plain(x.values.tolist()),
        }
    if hasattr(x, "index") and hasattr(x, "values") and hasattr(x, "name"):
        return {"index": plain(list(x.index)), "values": plain(list(x.values))}
    if hasattr(x, "tolist"):
        return plain(x.tolist())
    if isinstance(x, (list, tuple)):
        return [plain(item) for item in x]
    return None if isinstance(x, float) and x != x else x


def evaluated(code, file="/home/me/train.py"):
    """What a piece of a program gives."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = {"__name__": "train", "__file__": file, "path": os.path.join(folder, "made")}
        exec(compile(code, file, "exec"), space)
    return plain(space["seen"])


if __name__ == "__main__":
    found = {}
    for case in CASES:
        try:
            found[case] = evaluated(case)
        except Exception as error:
            print("no result:", case, repr(error))
    lines = ["%s: %s" % (json.dumps(case), json.dumps(found[case])) for case in found]
    with open(sys.argv[1], "w") as written:  # a line for each case
        written.write("{\n" + ",\n".join(lines) + "\n}\n")
