"""The documentation site: Markdown pages, what the code says of itself, and pictures drawn by commands.

`make docs` builds it, offline: no page asks another server for a script, a font or a formula.
"""

import sys
from pathlib import Path

from fwsvm import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "fwsvm"
author = "The fwsvm developers"
project_copyright = author
version = release = __version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "mathml", "command_line",
    "experiment_keys", "facts", "pictures",
]  # fmt: skip
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "pictures", "_extensions"]
default_role = "code"
smartquotes = False  # they would make a dash of --option
nitpicky = False
html_theme = "furo"
html_title = f"fwsvm {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "monokai"
autodoc_typehints = "none"  # the docstrings say types and shapes
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
