"use strict";
// Tables that sort and filter, and figures that are drawn anew from their numbers by Bokeh, if the page holds it.
// Names of the results are put in as text only.

(() => {
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // ------------------------------------------------------------------ tables

  // A block of lines (one tbody) is sorted and filtered as a whole; its first line has the values.
  const number = (text) => {
    const found = /^[^\w.+-]*([+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i.exec(text.trim());
    return found ? parseFloat(found[1].replaceAll(",", "")) : NaN;
  };

  const sortable = (table) => {
    const bodies = [...table.tBodies];
    const heads = [...table.tHead.rows[0].cells];
    if (bodies.length < 2) return;
    table.classList.add("sorts");
    heads.forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = bodies.map((body, place) => {
          const text = body.rows[0].cells[column]?.textContent ?? "";
          return { body, place, text, value: number(text) };
        });
        const numeric = keyed.some(({ value }) => !Number.isNaN(value)) && column > 0;
        keyed.sort((a, b) => {
          // what is no number stands last, whichever way the others are sorted
          if (numeric && Number.isNaN(a.value) !== Number.isNaN(b.value)) return Number.isNaN(a.value) ? 1 : -1;
          const order = numeric && !Number.isNaN(a.value)
            ? a.value - b.value
            : a.text.localeCompare(b.text, "en", { numeric: true });
          return (down ? -order : order) || a.place - b.place;
        });
        table.append(...keyed.map(({ body }) => body));
      });
    });
  };

  const filterable = (table) => {
    const bodies = [...table.tBodies];
    if (bodies.length < 6) return;
    const field = make("input", { type: "search" });
    const count = make("output");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const body of bodies) {
        const full = [...body.querySelectorAll("[title]")].map((element) => element.title).join(" ");
        const text = `${body.textContent} ${full}`.toLowerCase();
        body.hidden = !words.every((word) => text.includes(word));
        left += body.hidden ? 0 : 1;
      }
      count.textContent = words.length ? `${left} of ${bodies.length}` : "";
    });
    table.before(make("div", { className: "filter" }, make("label", {}, "Filter rows ", field), count));
  };

  for (const table of document.querySelectorAll(".table table")) {
    filterable(table);
    sortable(table);
  }

  // ----------------------------------------------------------------- figures

  // The library is unpacked when the first figure comes near the window; without it figures stay pictures.
  const packed = document.getElementById("library");
  if (!packed || typeof DecompressionStream === "undefined") return;
  let M, Document;
  const unpacked = async () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const code = await new Response(plain).text();
    document.head.append(make("script", { textContent: code }));
    M = Bokeh.Models;
    ({ Document } = Bokeh.require("document"));
  };
  let library;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const hidden = new Set(); // names of methods, hidden in all figures
  const figures = [];

  const SIZES = { circle: 7, square: 7, diamond: 11, star: 12 }; // which look alike in size
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (hex) => variable(`--c-${hex.slice(1).toLowerCase()}`) || hex;
  const plain = (text) => new M.PlainText({ text }); // Bokeh sets other texts with $$ as mathematics

  // 1, 2, 5, 10 ... within a few decades, powers of ten beyond, and even steps within a factor of six.
  const steps = Array.from({ length: 25 }, (_, i) => [1, 2, 5].map((digit) => Number(`${digit}e${i - 12}`))).flat();
  const logTicker = ({ start, end }) => {
    const factor = Math.max(start, end) / Math.min(start, end);
    if (factor < 6) return new M.BasicTicker({ desired_num_ticks: 5 });
    if (factor < 300) return new M.FixedTicker({ ticks: steps });
    return new M.LogTicker({ desired_num_ticks: 5, num_minor_ticks: 0 });
  };

  const axis = (given, side, plot, room) => {
    const ink = variable("--c-222222");
    const soft = {
      axis_label: given.label ? plain(given.label) : null, axis_label_text_font_size: "12px", axis_label_text_font_style: "normal",
      axis_label_text_color: ink, major_label_text_color: ink, major_label_text_font_size: "11px",
      axis_line_color: ink, major_tick_line_color: ink, minor_tick_line_color: null,
      major_label_policy: new M.NoOverlap(),
    };
    const made = given.log ? new M.LogAxis(soft) : new M.LinearAxis(soft);
    if (given.log) made.ticker = logTicker(side === "below" ? plot.x_range : plot.y_range);
    if (given.ticks) {
      const [places, texts] = given.ticks;
      made.ticker = new M.FixedTicker({ ticks: places });
      const most = room < 500 ? 16 : 40; // letters, so that the panel has room beside them
      const cut = (text) => plain(text.length > most ? `${text.slice(0, most - 1)}…` : text);
      made.major_label_overrides = new Map(places.map((place, i) => [place, cut(texts[i])]));
    }
    if (given.log) {
      const range = side === "below" ? plot.x_range : plot.y_range;
      range.properties.start.change.connect(() => { made.ticker = logTicker(range); });
    }
    plot.add_layout(made, side);
    plot.add_layout(new M.Grid({ axis: made, dimension: side === "below" ? 0 : 1,
                                 grid_line_color: variable("--c-dddddd") }), "center");
  };

  const columns = (curve, panel) => {
    const [x, y] = curve.marks;
    const fields = curve.fields ?? ["method", panel.x.label || "x", panel.y.label || "y"];
    const rows = curve.rows ?? x.map((at, i) => [curve.name, `${at}`, `${y[i]}`]);
    return { fields, rows };
  };

  const draw = (figure, panel, place) => {
    const range = ({ limits: [start, end] }) => new M.Range1d({ start, end });
    const scale = ({ log }) => (log ? new M.LogScale() : new M.LinearScale());
    const plot = new M.Plot({
      x_range: range(panel.x), y_range: range(panel.y), x_scale: scale(panel.x), y_scale: scale(panel.y),
      height: Math.max(260, panel.y.ticks ? 26 * panel.y.ticks[0].length + 70 : 0), sizing_mode: "stretch_width",
      background_fill_color: variable("--paper"), border_fill_color: variable("--paper"),
      outline_line_color: null, toolbar_location: "above",
    });
    plot.toolbar.logo = null;
    plot.toolbar.autohide = false;
    axis(panel.x, "below", plot, Infinity);
    axis(panel.y, "left", plot, place.clientWidth);
    for (const { at, across } of panel.rules) {
      const dimension = across === "x" ? "width" : "height";
      plot.add_layout(new M.Span({ location: at, dimension, line_color: variable("--c-222222"), line_width: 0.8 }));
    }
    const add = (name, glyph, data) => {
      const renderer = plot.add_glyph(glyph, new M.ColumnDataSource({ data }));
      if (name) figure.parts.push({ name, renderer });
      return renderer;
    };
    for (const area of panel.areas) {
      const data = { xs: area.paths.map(([x]) => x), ys: area.paths.map(([, y]) => y) };
      const fields = { xs: { field: "xs" }, ys: { field: "ys" } };
      const tint = colour(area.colour);
      add(area.name, area.whiskers
        ? new M.MultiLine({ ...fields, line_color: tint, line_width: 1.2 })
        : new M.Patches({ ...fields, fill_color: tint, fill_alpha: 0.18, line_color: null }), data);
    }
    const tapped = [];
    for (const curve of panel.curves) {
      const tint = colour(curve.colour);
      const xy = { x: { field: "x" }, y: { field: "y" } };
      if (curve.line) {
        add(curve.name, new M.Line({ ...xy, line_color: tint, line_width: 1.6, line_dash: curve.line }),
            { x: curve.turns[0], y: curve.turns[1] });
      }
      if (!curve.marker) continue;
      const { fields, rows } = columns(curve, panel);
      const data = { x: curve.marks[0], y: curve.marks[1] };
      fields.forEach((_, j) => { data[`f${j}`] = rows.map((row) => row[j]); });
      const above = curve.hollow || curve.ring !== null; // a point of another curve
      const fill = curve.ring ? null : curve.hollow ? variable("--paper") : tint;
      const outlined = above || curve.marker === "x"; // which has strokes alone
      const look = { marker: { value: curve.marker }, size: curve.ring ?? SIZES[curve.marker] ?? 10, fill_color: fill,
                     line_color: outlined ? tint : variable("--paper"), line_width: outlined ? 2 : 0.5 };
      const points = add(curve.name, new M.Scatter({ ...xy, ...look }), data);
      points.nonselection_glyph = null;
      if (above) continue; // the point below it tells its row
      const tell = (indices) => { if (indices.length) figure.tell(fields, rows[indices[0]]); };
      points.data_source.selected.properties.indices.change.connect(() => tell(points.data_source.selected.indices));
      tapped.push(points);
      plot.add_tools(new M.HoverTool({ renderers: [points], visible: false,
                                       tooltips: fields.map((field, j) => [field, `@f${j}`]) }));
    }
    plot.add_tools(new M.TapTool({ renderers: tapped, visible: false })); // of several one alone would be active
    const zoom = new M.BoxZoomTool();
    plot.add_tools(zoom, new M.PanTool(), new M.WheelZoomTool(), new M.ResetTool(), new M.SaveTool());
    plot.toolbar.active_drag = zoom; // the wheel scrolls the page until it is switched on
    plot.toolbar.active_scroll = null;
    const root = new Document();
    root.add_root(plot);
    figure.plots.push(plot);
    return Bokeh.embed.add_document_standalone(root, place);
  };

  const show = () => {
    for (const figure of figures) {
      for (const { name, renderer } of figure.parts) renderer.visible = !hidden.has(name);
      for (const button of figure.keys.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", `${!hidden.has(button.name)}`);
      }
    }
  };

  const key = (name, hex) => {
    const button = make("button", { type: "button", name, title: "show or hide in all figures" }, name);
    button.style.setProperty("--key", colour(hex));
    button.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      show();
    });
    return make("li", {}, button);
  };

  const build = async (element, numbers) => {
    await (library ??= unpacked());
    const panels = make("div", { className: "panels" });
    const point = make("output", { className: "point" }, "Point at a mark, or tap it, to see its row.");
    const keys = make("ul", { className: "keys" });
    keys.setAttribute("aria-label", "Methods shown");
    const tell = (fields, row) => point.replaceChildren(
      ...fields.flatMap((field, j) => (row[j] ? [`${field} `, make("b", {}, row[j]), j + 1 < fields.length ? ", " : ""] : [])));
    const figure = { keys, tell, parts: [], plots: [] };
    const named = new Map();
    for (const { curves } of numbers.panels) {
      for (const { name, colour: hex } of curves) if (name && !named.has(name)) named.set(name, hex);
    }
    if (named.size > 1) keys.append(...[...named].map(([name, hex]) => key(name, hex)));
    element.querySelector(".drawing").before(keys, panels, point);
    element.classList.add("drawn");
    figures.push(figure);
    figure.element = element;
    figure.undo = () => { for (const made of [keys, panels, point]) made.remove(); element.classList.remove("drawn"); };
    try {
      for (const panel of numbers.panels) {
        const place = make("div", { role: "img" });
        place.setAttribute("aria-label", [panel.title, panel.y.label, panel.x.label].filter(Boolean).join(", "));
        panels.append(make("div", {}, ...(panel.title ? [make("h4", {}, panel.title)] : []), place));
        await draw(figure, panel, place);
      }
    } catch (error) { // another Bokeh than expected: the picture is there
      console.warn(error);
      figures.splice(figures.indexOf(figure), 1);
      figure.undo();
    }
    show();
  };

  // Figures are drawn when they come near the window: a page may have a hundred.
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      build(target, JSON.parse(target.querySelector("script.numbers").textContent));
    }
  }, { rootMargin: "600px" });
  const pictures = [...document.querySelectorAll("figure.picture")].filter((f) => f.querySelector("script.numbers"));
  for (const picture of pictures) near.observe(picture);
  dark.addEventListener("change", () => {
    for (const { undo, element } of figures.splice(0)) {
      undo();
      near.observe(element);
    }
  });
})();
