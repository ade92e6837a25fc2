"""`pkg_resources`, which came with setuptools until its version 81, by Python's importlib."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import IO, Any

from ..stand_in import Table, from_module, function
from .python_modules import VERSION, LooseVersion


def resource_filename(package_or_requirement: str, resource_name: str) -> str:
    """The path of a file that lies beside a module, or in a package."""
    spec = importlib.util.find_spec(package_or_requirement)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {package_or_requirement!r}")
    folders = spec.submodule_search_locations
    folder = next(iter(folders)) if folders else os.path.dirname(spec.origin or "")
    return os.path.join(folder, *resource_name.split("/"))


def resource_stream(package_or_requirement: str, resource_name: str) -> IO[bytes]:
    """Such a file, opened for its bytes."""
    return open(resource_filename(package_or_requirement, resource_name), "rb")


def resource_string(package_or_requirement: str, resource_name: str) -> bytes:
    """The bytes of such a file."""
    with resource_stream(package_or_requirement, resource_name) as file:
        return file.read()


def resource_exists(package_or_requirement: str, resource_name: str) -> bool:
    """Whether there's such a file or folder."""
    return os.path.exists(resource_filename(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement: str, resource_name: str) -> bool:
    """Whether there's such a folder."""
    return os.path.isdir(resource_filename(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement: str, resource_name: str) -> list[str]:
    """The names in such a folder."""
    return os.listdir(resource_filename(package_or_requirement, resource_name))


class Distribution:
    """An installed package: its name, version and place."""

    def __init__(self, found: metadata.Distribution) -> None:
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
            **{
                f.__name__: function("importlib.resources.files", f)
                for f in (
                    resource_filename, resource_stream, resource_string, resource_exists,
                    resource_isdir, resource_listdir,
                )
            },
            "get_distribution": function("importlib.metadata.distribution", get_distribution),
            "require": function("importlib.metadata.distribution", require),
            "iter_entry_points": function("importlib.metadata.entry_points", iter_entry_points),
            "DistributionNotFound": from_module("importlib.metadata", "PackageNotFoundError"),
            "parse_version": VERSION["LooseVersion"],
        },
        made=True,
    ),
}  # fmt: skip
