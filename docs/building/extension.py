"""What Sphinx learns here: links to functions, text without words, figures, formulas in MathML,
and a tree of pages that is small and says which of them are in English.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from docs.building import functions, programs, redirects, sources
from docs.building.languages import SOURCE, is_translated
from docs.building.places import DOCS, ROOT, WORK

TITLE = re.compile(r'<h1>.*?</h1>|<span class="sig-name .*?</span></span>')
CALL = re.compile(r"K\.(\w+)(\(.*\))?$")
FUNCTION_PAGES = "backend/functions/"
# Markdown files elsewhere in the repository whose text is on a page of the site.
PAGES_OF_FILES = {
    "examples/README.md": "examples",
    "CHANGELOG.md": "changes",
    **{f"examples/{name}.py": f"examples/{name}" for name in programs.rows()},
}
ABOUT = "The classic Keras backend API, run on any engine: the documentation of Kameleon"
LONGEST = 160  # letters of a description
# What has no words even if it has letters.
WORDLESS = (nodes.literal, nodes.math, nodes.math_block, nodes.raw)


class Wordless(SphinxTransform):
    """Text without words (names, numbers, code alone) is the same in every language: translators
    don't get it.
    """

    default_priority = 10  # before translations are put in

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.TextElement):
            # The title of a function's page is its name.
            is_name = isinstance(node, nodes.title) and node.astext() in functions.names()
            if not isinstance(node, nodes.Inline) and (is_name or not words_of(node)):
                node["translatable"] = False


def words_of(node: nodes.Node) -> bool:
    """Whether there are letters outside of code and formulas."""
    if isinstance(node, nodes.Text):
        return re.search(r"[^\W\d_]", str(node)) is not None
    return not isinstance(node, WORDLESS) and any(words_of(child) for child in node.children)


class NoBlankEnds(SphinxTransform):
    """Examples end with a blank line where doctest needs one; readers don't."""

    default_priority = 20

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.literal_block):
            node.rawsource = node.astext().rstrip()
            node.children = []
            node += nodes.Text(node.rawsource)


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
        refdomain="",  # Sphinx's own links to pages make plain text of code
        reftype="page",
        reftarget=page,
        refdoc=here,
        refexplicit=True,
        refwarn=True,
    )
    found.source = content.source
    return found


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """What such a link becomes."""
    if node["reftype"] != "page" or node["reftarget"] not in env.found_docs:
        return None
    return make_refnode(app.builder, node["refdoc"], node["reftarget"], None, content)


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
    """The site has an index of its own (docs/building/searching.py); Sphinx's isn't needed."""
    if hasattr(app.builder, "search"):
        app.builder.search = False


def old_anchors(app: Sphinx, page: str, *_: Any) -> None:
    """The backend's page takes the anchors that the original's page at this address had."""
    if page == "backend/index":
        app.add_js_file(None, body=redirects.BY_ANCHOR_HERE.format(pages=redirects.as_json()))


def gallery_style(app: Sphinx, page: str, *_: Any) -> None:
    if page.split("/")[0] == "examples":
        app.add_css_file("gallery.css")


def highlighted(app: Sphinx) -> list[Any]:
    """Pages of source code are Python; other code without a language is none."""
    app.config.highlight_language = "python"
    return []


def description(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Tell search engines what a page is about: its first paragraph, or what is in its tables."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    text = next((p.astext() for p in paragraphs if isinstance(p.parent, nodes.section)), "")
    if not text:
        rows = doctree.findall(nodes.tbody) if doctree else ()
        about = " ".join(row.astext() for row in rows) or ABOUT
        text = ": ".join(filter(None, [re.sub("<.*?>", "", context.get("title") or ""), about]))
    text = " ".join(text.split())
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(" ", 1)[0] + " …"
    tag = f'<meta name="description" content="{html.escape(text)}">'
    context["metatags"] = context.get("metatags", "") + tag


def tree_of_pages(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: Any) -> None:
    """Let the tree beside a page show the branch that the page is on: whole, with all functions, it
    would take most of the time of a build, and most of each file. What is in English says so.
    """
    context["translated"] = is_translated(page)
    whole: Callable[..., str] | None = context.get("toctree")
    if whole is None:
        return

    def tree(**options: Any) -> str:
        text = whole(**{**options, "collapse": True})
        text = text.replace('role="heading"', 'role="heading" aria-level="2"')
        text = breakable(text)
        return text if app.config.language == SOURCE else with_languages(text, page)

    context["toctree"] = tree


def breakable(text: str) -> str:
    """HTML whose long names may go on in the next line, behind an underscore."""
    return re.sub(r"_(?=[a-z][^<>]*</)", "_<wbr>", text)


def breakable_titles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], *_: Any
) -> None:
    """Let the titles of functions' pages, also in links to the next ones, and the names in
    signatures fit a phone.
    """
    if "body" in context:
        context["body"] = TITLE.sub(lambda title: breakable(title[0]), context["body"])
    for link in filter(None, (context.get("prev"), context.get("next"))):
        link["title"] = breakable(f"{link['title']}</").removesuffix("</")


def with_languages(tree: str, page: str) -> str:
    """A tree beside a page in another language, with links to English pages marked as such."""

    def mark(link: re.Match[str]) -> str:
        address = posixpath.join(posixpath.dirname(page), link[1].partition("#")[0])
        target = posixpath.normpath(address).removesuffix(".html") if link[1] != "#" else page
        return link[0] if is_translated(target) else f'{link[0]} lang="{SOURCE}"'

    return re.sub(r'href="([^"]+)"', mark, tree)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Wordless)
    app.add_transform(NoBlankEnds)
    app.add_transform(LinksToFunctions)
    app.add_transform(LinksToFiles)
    app.add_directive("drawing", Drawing)
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("builder-inited", no_index)
    app.connect("html-page-context", old_anchors)
    app.connect("html-page-context", gallery_style)
    app.connect("html-page-context", description)
    app.connect("html-collect-pages", highlighted, priority=400)  # before viewcode's
    if "sphinx.ext.viewcode" in app.extensions:
        app.connect("viewcode-follow-imported", sources.module_of)
    app.connect("html-page-context", breakable_titles)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", tree_of_pages, priority=400)  # before the theme's
    # Where this file or the code of K has changed, pages that were read before are read again.
    files = [Path(__file__), *sorted((ROOT / "src/kameleon/backend").glob("*.py"))]
    version = zlib.crc32(b"".join(file.read_bytes() for file in files))
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": version}
