"""What Sphinx learns here: links to functions, text without words, figures, formulas in MathML."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from docs.building import functions, programs, redirects
from docs.building.places import DOCS, ROOT, WORK

CALL = re.compile(r"K\.(\w+)(\(.*\))?$")
FUNCTION_PAGES = "backend/functions/"
# Markdown files elsewhere in the repository whose text is on a page of the site.
PAGES_OF_FILES = {
    "examples/README.md": "examples",
    "CHANGELOG.md": "changes",
    **{f"examples/{name}.py": f"examples/{name}" for name in programs.rows()},
}
# What has no words even if it has letters.
WORDLESS = (nodes.literal, nodes.math, nodes.math_block, nodes.raw)


class Wordless(SphinxTransform):
    """Text without words (names, numbers, code alone) is the same in every language: translators
    don't get it.
    """

    default_priority = 10  # before translations are put in

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.TextElement):
            is_name = node.astext() in functions.names()  # the title of a function's page
            if not isinstance(node, nodes.Inline) and (is_name or not words_of(node)):
                node["translatable"] = False


def words_of(node: nodes.Node) -> bool:
    """Whether there are letters outside of code and formulas."""
    if isinstance(node, nodes.Text):
        return re.search(r"[^\W\d_]", str(node)) is not None
    return not isinstance(node, WORDLESS) and any(words_of(child) for child in node.children)


class LinksToFunctions(SphinxTransform):
    """`K.name` in code becomes a link to that function's page."""

    default_priority = 800  # behind translations

    def apply(self, **kwargs: Any) -> None:
        here = self.env.docname
        for node in list(self.document.findall(nodes.literal)):
            match = CALL.match(node.astext())
            if match is None or match[1] not in functions.names() or in_link(node):
                continue
            if here != (page := FUNCTION_PAGES + match[1]):
                node.replace_self(link(node.deepcopy(), page, here))


class LinksToFiles(SphinxTransform):
    """A link to a file of the repository, which GitHub shows, leads to the page that has the file's
    text, or hands the file out. Pages that include another file have that file's links.
    """

    default_priority = 810

    def apply(self, **kwargs: Any) -> None:
        here = self.env.docname
        for node in list(self.document.findall(addnodes.pending_xref)):
            path = file_meant(node) if node.get("reftype") == "myst" else None
            if path is None:
                continue
            name = path.relative_to(ROOT).as_posix()
            page = PAGES_OF_FILES.get(name, docname_of(path))
            if page and page != here:
                node.replace_self(link(nodes.inline("", "", *node.children), page, here))
            else:
                address = os.path.relpath(path, (DOCS / here).parent)
                found = addnodes.download_reference("", "", *node.children, reftarget=address)
                node.replace_self(found)


def file_meant(node: addnodes.pending_xref) -> Path | None:
    """The file that a link of MyST's means, where MyST doesn't know it."""
    target = node["reftarget"].partition("#")[0]
    if target.startswith("/"):  # a page's name, had it been in the folder of the pages
        path = Path(target + ".md")
    else:
        path = Path(node.source or "").parent / target
    known = node.get("refdomain") == "doc" and not target.startswith("/")
    return path.resolve() if target and path.is_file() and not known else None


def docname_of(path: Path) -> str:
    """The page that is made of a file; empty where there's none."""
    if path.is_relative_to(DOCS) and path.suffix == ".md":
        return path.relative_to(DOCS).with_suffix("").as_posix()
    return ""


def in_link(node: nodes.Node) -> bool:
    """Whether a link to something is around, or a title, which should stay plain."""
    parent: Any = node.parent
    while parent is not None:
        if isinstance(parent, (nodes.reference, addnodes.pending_xref, nodes.title)):
            return True
        parent = parent.parent
    return False


def link(content: nodes.Node, page: str, here: str) -> addnodes.pending_xref:
    """A link to a page of the site around some content."""
    found = addnodes.pending_xref(
        "",
        content,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{page}",
        refdoc=here,
        refexplicit=True,
        refwarn=True,
    )
    found.source = content.source
    return found


class Drawing(SphinxDirective):
    """`{drawing} name`: a figure of `docs.building.figures` in the page, in the page's colours; the
    content is its caption, which says what the figure shows to those who don't see it, too.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = WORK / "figures" / f"{name}.svg"
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        text = text.replace("<svg ", '<svg aria-hidden="true" ', 1)  # the caption tells all of it
        words, _ = self.state.inline_text("\n".join(self.content), self.lineno)
        caption = nodes.caption("\n".join(self.content), "", *words)
        self.set_source_info(caption)
        picture = nodes.raw("", text, format="html")
        return [nodes.figure("", picture, caption, classes=["drawing"])]


def inline_formula(writer: Any, node: nodes.math) -> None:
    writer.body.append(f'<span class="formula">{tex2mathml(node.astext())}</span>')
    raise nodes.SkipNode


def block_formula(writer: Any, node: nodes.math_block) -> None:
    text = tex2mathml(node.astext(), as_block=True)
    writer.body.append(f'<div class="formula">{text}</div>')
    raise nodes.SkipNode


def no_index(app: Sphinx) -> None:
    """Pagefind searches; Sphinx's own index isn't needed."""
    if hasattr(app.builder, "search"):
        app.builder.search = False


def old_anchors(app: Sphinx, page: str, *_: Any) -> None:
    """The backend's page takes the anchors that the original's page at this address had."""
    if page == "backend/index":
        app.add_js_file(None, body=redirects.BY_ANCHOR_HERE.format(pages=redirects.as_json()))


def gallery_style(app: Sphinx, page: str, *_: Any) -> None:
    if page.split("/")[0] == "examples":
        app.add_css_file("gallery.css")


def small_tree(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: Any) -> None:
    """Let the tree beside a page show the branch that the page is on: whole, with all functions, it
    would take most of the time of a build, and most of each file.
    """
    whole: Callable[..., str] | None = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Wordless)
    app.add_transform(LinksToFunctions)
    app.add_transform(LinksToFiles)
    app.add_directive("drawing", Drawing)
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("builder-inited", no_index)
    app.connect("html-page-context", old_anchors)
    app.connect("html-page-context", gallery_style)
    app.connect("html-page-context", small_tree, priority=400)  # before the theme's
    # Where this file has changed, pages that were read before are read again.
    version = zlib.crc32(Path(__file__).read_bytes())
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": version}
