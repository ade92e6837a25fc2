# Sourced by .ci/run and tests/nightly: fresh virtual environments with this checkout in them.
# Needs: the working directory is the checkout; $work is a folder that is removed behind it.

# Two workers share the cores; a BLAS that started its own threads in each would slow both.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=2
# What the caller's shell says to Kameleon or Python must not decide the outcome.
unset KERAS_BACKEND KAMELEON_ENGINE KAMELEON_KERAS2 KAMELEON_CNTK PYTHONPATH PYTHONWARNINGS

main=3.11
# The day's number: what takes turns goes by it.
day=$(($(date -u +%s) / 86400))

# The engines' libraries as they run on a machine without a GPU: newer PyTorch and the full
# TensorFlow would bring gigabytes that nothing here uses.
cpu_builds=(torch==2.13.0 tensorflow-cpu)

say() { printf '\n== [%4ds] %s\n' "$SECONDS" "$*"; }

# find_python 3.12: path of that interpreter, on PATH or under pyenv. A pyenv shim may be there
# and fail, so each candidate must answer with its version.
find_python() {
    local candidate
    for candidate in "python$1" "${HOME:-}/.pyenv/versions/$1"*/bin/python python3; do
        if [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' \
            2>/dev/null)" = "$1" ]; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# main_python: the interpreter of most tests; PYTHON names another one.
main_python() {
    [ -z "${PYTHON:-}" ] || { echo "$PYTHON"; return; }
    find_python "$main" || { echo "Python $main not found; set PYTHON" >&2; return 1; }
}

# install NAME PYTHON EXTRA [PACKAGE ...]: a fresh environment at $work/NAME with this checkout
# in it, and the original Keras beside it; the packages decide what the extras find.
install() {
    say "install .[$3] ${*:4} on $("$2" --version)"
    "$2" -m venv "$work/$1"
    "$work/$1/bin/python" -m pip install "${@:4}" ".[$3]"
    "$work/$1/bin/kameleon" keras2 install
}

# install_browser NAME [PACKAGE ...]: what tests of the site need in that environment: axe-core, which a
# package brings that wants another driver; Chromium with its driver, and fonts, from Debian, where
# that may be asked. Without them the tests are skipped, and say why.
install_browser() {
    "$work/$1/bin/python" -m pip install --no-deps axe-playwright-python
    if command -v chromedriver >/dev/null; then return; fi
    say "install chromium chromium-driver ${*:2}"
    debian_packages chromium chromium-driver "${@:2}" ||
        say "Chromium can't be installed here: the site isn't tried in a browser"
}

# debian_packages PACKAGE ...: install them; fails where that can't be done, within minutes.
debian_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return
    timeout 60 apt-get -qq update &&
        DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq install --no-install-recommends "$@" >/dev/null
}

# lowest PYTHON [EXTRA ...]: the oldest versions that pyproject.toml allows of what the core and
# those extras need, as pip takes them.
lowest() {
    "$1" - "${@:2}" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
for need in sum((extras[name] for name in sys.argv[1:]), project["dependencies"]):
    name, version = need.split(">=")
    print(f"{name.replace('tensorflow', 'tensorflow-cpu')}=={version}.*")
PYTHON
}

# import_all NAME: every module of the installed package loads, away from the checkout. Each
# environment has its own keras.json, for TensorFlow's Keras writes one as soon as it's loaded.
import_all() {
    (cd "$work" && KERAS_HOME=$work/$1/keras "$work/$1/bin/python" -W error - <<'PYTHON'
import importlib
from pathlib import Path
import kameleon
from kameleon.config import ENGINES, installed
root = Path(kameleon.__path__[0])
files = [path.relative_to(root.parent).with_suffix("") for path in sorted(root.rglob("*.py"))]
names = [".".join(file.parts).removesuffix(".__init__") for file in files]
# These change `import keras`, or import it, and refuse to come behind TensorFlow's Keras; and
# benchmarks are scripts, which find each other in their folder.
apart = (
    "kameleon.benchmarks.",
    "kameleon.as_keras", "kameleon.compat.keras2.hosted.", "kameleon.compat.imports.children.",
    "kameleon.backend.interop.keras3_",
)
names = [name for name in names if not name.startswith(apart)]
# Of bridges and formats, by how their modules' names begin.
others = {
    "jax_": "jax", "stablehlo": "jax", "symbolic": "jax", "torch_": "torch", "onnx": "onnxruntime",
    "tensorflow_": "tensorflow", "savedmodel": "tensorflow", "litert": "tensorflow",
}
def needed(name):
    """The engine whose library a module needs, if any: it's of that engine, or of what calls it."""
    if name.startswith("kameleon.engines."):
        return name.split(".")[2]
    last = name.rpartition(".")[2]
    if name.startswith(("kameleon.backend.interop.", "kameleon.backend.export.")):
        return next((engine for start, engine in others.items() if last.startswith(start)), "")
    return last.partition("of_")[2]

for name in names:
    engine = needed(name)
    if not name.endswith("__main__") and (engine not in ENGINES or installed(engine)):
        importlib.import_module(name)
print(f"{len(names)} modules of {kameleon.__version__} from {kameleon.__path__[0]}")
PYTHON
    )
}

# tested NAME [ARGUMENT ...]: pytest in that environment, on two cores; a share of the tests, if
# $share says which.
tested() {
    say "tests in $1: ${*:2}"
    "$work/$1/bin/python" -m pytest -n 2 -q --share "${share:-0/1}" "${@:2}"
}
