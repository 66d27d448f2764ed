"""Tables of results, ours beside the printed ones.

layout     the rows, columns and measures of a paper's table; each paper's layouts are in `fwsvm.analysis.papers`
build      a layout filled with cells, ours and printed
drawing    tables by name: a paper's table, or a plain table of a measure
sizes      the papers' tables of data sets
model      a table before it is rendered; `render` writes it for terminals, Markdown, LaTeX or CSV, `html` as HTML
"""
