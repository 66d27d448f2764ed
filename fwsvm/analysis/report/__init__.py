"""One self-contained HTML page of an experiment.

page         the page as a whole
summary      on top: what was run, what won, what is uncertain, and what is missing
sections     tables, tests, claims, configuration, environment
pictures     figures: a static drawing each, and its numbers for the plotting library
chart        the numbers of a matplotlib figure
plotting     the JavaScript of Bokeh (the extra ``report``), which makes figures zoom
page.css, page.js are embedded in the page.
"""

from fwsvm.analysis.report.page import page

__all__ = ["page"]
