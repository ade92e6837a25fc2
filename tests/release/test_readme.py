"""README.md, in the checkout and as the package's page: its links, its picture, its commands."""

from __future__ import annotations

import io
import os
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from _support.common import TESTS, module_at

ROOT = TESTS.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCE = "https://example.org/us/kameleon"
VERSION = "1.2.3"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """The module that makes the package's page when the package is built."""
    pytest.importorskip("hatchling", reason="it builds the package: pip install hatchling")
    return module_at("hatch_build.py")


@pytest.fixture(scope="module")
def commands() -> ModuleType:
    """The script that runs the page's commands."""
    return module_at("tests/release/readme.py")


def rendered(text: str) -> str:
    """The page as a package index shows it; any complaint fails."""
    markdown = pytest.importorskip("readme_renderer.markdown", reason="pip install readme_renderer")
    complaints = io.StringIO()
    html = markdown.render(text, stream=complaints)
    assert html and not complaints.getvalue()
    return str(html)


def addresses(html: str) -> set[str]:
    """Where links and pictures are, but for the anchors of titles."""
    return set(re.findall(r'(?:href|src)="([^"#][^"]*)"', html))


def test_the_page_of_the_package_has_absolute_links(hook: ModuleType) -> None:
    found = addresses(rendered(hook.page(TEXT, SOURCE, VERSION)))
    kinds = [re.fullmatch(rf"{SOURCE}/(blob|raw)/v{VERSION}/(.+)", address) for address in found]
    assert len(found) > 20 and all(kinds), found
    for kind in filter(None, kinds):
        assert (ROOT / kind[2].partition("#")[0]).exists(), kind[2]
        assert (kind[1] == "raw") == kind[2].endswith(".png")


def test_without_an_address_nothing_leads_nowhere(hook: ModuleType) -> None:
    html = rendered(hook.page(TEXT, "", VERSION))
    assert not addresses(html) and "Choosing an engine" in html


def test_code_is_left_alone(hook: ModuleType) -> None:
    text = "```python\nf[0](x)\n```\n\n    g[0](x)\n\n`h[0](x)` [a](b)\n"
    assert hook.page(text, "", VERSION) == text.replace("[a](b)", "a")


def test_the_built_package_has_that_page(hook: ModuleType) -> None:
    metadata = pytest.importorskip("hatchling.metadata.core")
    plugins = pytest.importorskip("hatchling.plugin.manager")
    project = metadata.ProjectMetadata(str(ROOT), plugins.PluginManager())
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get(
        "urls"
    )
    page = hook.page(TEXT, (urls or {}).get("Source", ""), project.version)
    assert project.core.readme == page
    assert project.core.readme_content_type == "text/markdown"


def test_each_command_of_the_readme_is_run(commands: ModuleType) -> None:
    """CI takes them out of the page; none of what a shell would be told there is passed over."""
    indented = re.findall(r"^    +((?:pip|python|kameleon) .+)$", TEXT, re.M)
    run = [command for block in commands.blocks(TEXT) for command in block]
    assert run == [line.split("  # ")[0].strip() for line in indented]
    assert "pip install nox && nox" in run  # nothing else runs formatter and linter
    assert "tests/release/readme.py" in (ROOT / ".ci/run").read_text("utf-8")


def test_a_command_that_fails_ends_its_block(
    commands: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(commands, "fresh", lambda folder: dict(os.environ))
    [said] = commands.faults(["echo one", "echo two; exit 3", "touch never"], tmp_path)
    assert said == "echo two; exit 3: exit status 3\ntwo\n"


@pytest.mark.dealt(2)
def test_the_picture_is_what_the_program_gives(engine_name: str) -> None:
    pytest.importorskip("matplotlib")
    from docs.building.figures import cover

    said = re.search(rf"after\s+{cover.STEPS} steps the loss is (\S+) on every engine", TEXT)
    assert said
    assert cover.trained(engine_name)[-1] == pytest.approx(float(said[1]), rel=1e-4)
