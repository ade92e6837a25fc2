"""Configuration of Sphinx. `python -m docs build` builds; see docs/building."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import kameleon  # noqa: E402
from docs.building import sources, trial  # noqa: E402
from docs.building.languages import BY_THEME, LANGUAGES  # noqa: E402

project = "Kameleon"
author = "Kameleon developers"
project_copyright = "Kameleon developers"
version = release = kameleon.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx.ext.linkcode" if sources.repository() else "sphinx.ext.viewcode",
    "docs.building.extension",
]
linkcode_resolve = sources.addresses(sources.repository(), version)
viewcode_line_numbers = True
root_doc = "index"
# The gallery is a part of a page.
exclude_patterns = ["building", "examples/gallery.md", "locale", "static", "templates"]
default_role = "code"  # what is between single backticks in docstrings
highlight_language = "none"
smartquotes = False  # pages say what they mean, in all languages
nitpicky = False

# Markdown, as GitHub shows it.
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "attrs_inline"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Languages: one catalogue for each section (start.po, backend.po …), so that a sentence that stands
# on many pages is translated once.
language = "en"
locale_dirs = ["locale"]
gettext_compact = True
gettext_uuid = False
gettext_auto_build = True

html_theme = "furo"
html_title = "Kameleon"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("site.js", "search.js")]
html_favicon = "static/logo.svg"
html_use_index = False  # the functions have one of their own
html_domain_indices = False
html_show_sphinx = False
html_additional_pages = {page: f"{page}.html" for page in BY_THEME}
html_copy_source = False
html_show_sourcelink = False
html_context = {
    "languages": LANGUAGES,
    "search_pages": BY_THEME,
    "has_trial": trial.is_there(),
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/languages.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
