"""The programs of `examples/`: on which engines they run, and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Figure:
    """A number in the output, behind its label.

    Engines draw equal random numbers but round differently, and training makes that larger: how
    far from the NumPy engine's value an engine may be led is `within`.
    """

    label: str
    value: float  # that of the NumPy engine
    within: float


@dataclass(frozen=True)
class Program:
    """A program, the engines to run it on, and what it says."""

    name: str
    engines: str
    figures: tuple[Figure, ...]


PROGRAMS = (
    Program(
        "actor_critic",
        "numpy theano onnxruntime",
        (
            Figure("after  50 updates", 66.5, 15.0),
            Figure("steps the pole stands", 200.0, 20.0),
        ),
    ),
    Program(
        "ctc_line_reader",
        "numpy jax onnxruntime",
        (Figure("strips read without a mistake", 0.99, 0.03),),
    ),
    Program(
        "custom_optimizer",
        "numpy jax onnxruntime",
        (
            Figure("SGD: loss", 0.5488, 0.002),
            Figure("told rightly by SGD", 0.7012, 0.01),
            Figure("told rightly", 0.9922, 0.01),
        ),
    ),
    Program(
        "filter_visualization",
        "numpy torch onnxruntime",
        (
            Figure("mean excitation", 6.515, 0.3),
            Figure("accuracy on held-out digits", 0.975, 0.015),
            Figure("filters excited beyond any digit", 1.0, 0.0),
        ),
    ),
    Program(
        "grad_cam",
        "numpy tensorflow jax",
        (
            Figure("accuracy on held-out images", 1.0, 0.005),
            Figure("hottest place on the shape", 0.9975, 0.02),
        ),
    ),
    Program(
        "siamese_digits",
        "numpy torch theano cntk",
        (
            Figure("loss on held-out pairs", 0.0222, 0.004),
            Figure("pairs told rightly", 0.9867, 0.008),
        ),
    ),
    Program(
        "stateful_lstm",
        "numpy tensorflow torch cntk",
        (
            Figure("after  30 streams: loss", 0.3624, 0.02),
            Figure("right answers when forgetting", 0.5276, 0.02),
            Figure("right answers", 1.0, 0.002),
        ),
    ),
    Program(
        "style_transfer",
        "numpy jax torch theano",
        (
            Figure("round 1: loss", 0.245, 0.001),
            Figure("style loss left", 0.0024, 0.002),
            Figure("correlation with the content", 0.4328, 0.02),
        ),
    ),
    Program(
        "variational_autoencoder",
        "numpy jax onnxruntime cntk",
        (
            Figure("same label as the nearest", 0.6722, 0.06),
            Figure("bound on held-out digits", 25.31, 0.3),
        ),
    ),
    Program(
        "wgan_gp",
        "numpy tensorflow jax",
        (
            Figure("step  100: distance", 0.3173, 0.02),
            Figure("share of the poorest cloud", 0.92, 0.3),
            Figure("distance", 0.0624, 0.034),
        ),
    ),
)


def number(label: str, output: str) -> float:
    """Return the last number that the output has behind a label at the start of a line."""
    found = re.findall(rf"^{re.escape(label)}:? +(\S+)", output, re.MULTILINE)
    assert found, f"the output has no line {label!r}:\n{output}"
    return float(found[-1].rstrip(","))


def assert_figures(program: Program, output: str) -> None:
    """The output has the program's figures."""
    for figure in program.figures:
        assert number(figure.label, output) == pytest.approx(figure.value, abs=figure.within)


def wording(output: str) -> list[str]:
    """Lines of an output without their numbers, which differ from engine to engine."""
    return [
        re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", line).strip()
        for line in output.strip().split("\n")
    ]
