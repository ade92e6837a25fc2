"""Drawn programs of fixed seeds: compiled, on an engine, against operations run one by one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _support.originals import needs_tensorflows_files

from fuzz.tensorflow.control import drawn
from fuzz.tensorflow.trying import Server, Trial, shrunk

pytestmark = needs_tensorflows_files
SEEDS = range(24)


@pytest.fixture(scope="module")
def executor() -> Iterator[Server]:
    server = Server("executor")
    yield server
    server.stop()


def test_programs_mean_the_same_where_they_are_compiled(executor: Server) -> None:
    trial = Trial("numpy", executor)
    try:
        found = {seed: trial.found(drawn(seed)) for seed in SEEDS}
    finally:
        trial.server.stop()
    assert not any(found.values()), found


def test_a_seed_is_one_program() -> None:
    assert drawn(3) == drawn(3) != drawn(4)


def test_a_program_is_shrunk_to_what_shows_it() -> None:
    program = next(text for text in map(drawn, range(99)) if "tf.while_loop" in text)
    least = shrunk(program, lambda text: "tf.while_loop" in text, 9)
    assert least.count("\n") == 1
