"""`pkg_resources`, which came with setuptools until its version 81, by Python's importlib."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...._utils.late import Late
from ..stand_in import Old, Table, constant, from_module
from .python_modules import VERSION, LooseVersion

metadata: Any = Late("importlib.metadata")


def resource_filename(package_or_requirement: str, resource_name: str) -> str:
    """The path of a file that lies beside a module, or in a package."""
    spec = importlib.util.find_spec(package_or_requirement)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {package_or_requirement!r}")
    folders = spec.submodule_search_locations
    folder = next(iter(folders)) if folders else os.path.dirname(spec.origin or "")
    return os.path.join(folder, *resource_name.split("/"))


# By name of a function, what it does with such a path.
OF_RESOURCES: Mapping[str, Callable[[str], Any]] = {
    "resource_filename": str,
    "resource_stream": lambda path: open(path, "rb"),  # noqa: SIM115 (the caller closes it)
    "resource_string": lambda path: Path(path).read_bytes(),
    "resource_exists": os.path.exists,
    "resource_isdir": os.path.isdir,
    "resource_listdir": os.listdir,
}


def _of_resource(use: Callable[[str], Any]) -> Old:
    return constant(
        "importlib.resources.files",
        lambda package_or_requirement, resource_name: use(
            resource_filename(package_or_requirement, resource_name)
        ),
    )


class Distribution:
    """An installed package: its name, version and place."""

    def __init__(self, found: Any) -> None:
        self.project_name = self.key = found.metadata["Name"]
        self.version, self.parsed_version = found.version, LooseVersion(found.version)
        self.location = str(found.locate_file(""))

    def __str__(self) -> str:
        return f"{self.project_name} {self.version}"


def get_distribution(dist: Any) -> Distribution:
    """The installed package of a name; what may stand behind the name isn't looked at."""
    if isinstance(dist, Distribution):
        return dist
    words = str(dist)
    for mark in "[=<>!~; ":
        words = words.partition(mark)[0]
    return Distribution(metadata.distribution(words))


def require(*requirements: str) -> list[Distribution]:
    """The installed packages of these names."""
    return [get_distribution(each) for each in requirements]


def iter_entry_points(group: str, name: str | None = None) -> Iterator[Any]:
    """What installed packages announce in a group."""
    found = metadata.entry_points(group=group)
    return (each for each in found if name in (None, each.name))


TABLES: Mapping[str, Table] = {
    "pkg_resources": Table(
        {
            **{name: _of_resource(use) for name, use in OF_RESOURCES.items()},
            "get_distribution": constant("importlib.metadata.distribution", get_distribution),
            "require": constant("importlib.metadata.distribution", require),
            "iter_entry_points": constant("importlib.metadata.entry_points", iter_entry_points),
            "DistributionNotFound": from_module("importlib.metadata", "PackageNotFoundError"),
            "parse_version": VERSION["LooseVersion"],
        },
        made=True,
    ),
}
