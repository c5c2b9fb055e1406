"use strict";
(function () {
  const wholeNumber = (value) => (typeof value === "number" ? value.toLocaleString("en-US") : value);

  function element(tag, content, attributes) {
    const made = document.createElement(tag);
    if (content !== undefined && content !== null) made.textContent = content;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }

  /* Tables: a button in every heading sorts the rows by that column. */

  function sortKey(row, column) {
    const cell = row.cells[column];
    const key = cell.dataset.key;
    if (key !== undefined) return { number: key === "inf" ? Infinity : key === "-inf" ? -Infinity : Number(key) };
    return { text: cell.textContent.trim() };
  }

  function compare(left, right) {
    const numbers = (left.number !== undefined) - (right.number !== undefined);
    if (numbers) return -numbers;
    if (left.number !== undefined) return left.number < right.number ? -1 : left.number > right.number ? 1 : 0;
    return left.text.localeCompare(right.text, "en", { numeric: true });
  }

  function sortRows(table, column) {
    const heading = table.tHead.rows[0].cells[column];
    const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = Array.from(table.tBodies[0].rows, (row) => ({ row, key: sortKey(row, column) }));
    keyed.sort((a, b) => sign * compare(a.key, b.key));
    table.tBodies[0].append(...keyed.map((entry) => entry.row));
  }

  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      if (heading.classList.contains("chart")) return;
      const button = element("button", heading.textContent, { type: "button" });
      button.addEventListener("click", () => sortRows(table, column));
      heading.replaceChildren(button);
    });
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);

  /* What is folded away is printed too. */

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach((fold) => { fold.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));

  /* Knowledge skylines. */

  const skylines = JSON.parse(document.getElementById("knowledge-data").textContent);
  const plot = document.getElementById("knowledge-plot");
  if (!skylines.length || !plot) return;
  const valueChoice = document.getElementById("knowledge-value");
  const confidenceChoice = document.getElementById("knowledge-confidence");
  const tables = document.getElementById("knowledge-tables");

  function framed(caption, headings, kind) {
    const frame = element("div", null, { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" });
    const table = element("table");
    table.append(element("caption", caption));
    const line = element("tr");
    headings.forEach((heading, i) => line.append(element("th", heading, { scope: "col", class: kind(i) })));
    const head = element("thead");
    head.append(line);
    table.append(head, element("tbody"));
    frame.append(table);
    return { frame, table, body: table.tBodies[0] };
  }

  function numberCell(tag, value, attributes) {
    const shown = value === null ? "not safe" : wholeNumber(value);
    const key = typeof value === "number" ? { "data-key": value } : value === "∞" ? { "data-key": "inf" } : {};
    return element(tag, shown, { class: "number", ...key, ...attributes });
  }

  function grid(skyline) {
    const columns = skyline.surface.length ? skyline.surface[0].map((_, m) => "m = " + m) : [];
    const caption = "Largest k below " + skyline.confidence + " for “" + skyline.value + "”"
      + (skyline.demanded.length ? "; ★ marks what the spec demands" : "");
    const { frame, body } = framed(caption, ["ℓ"].concat(columns), () => "number");
    skyline.surface.forEach((line, l) => {
      const row = element("tr");
      row.append(element("th", "ℓ = " + l, { scope: "row", class: "number" }));
      line.forEach((k, m) => {
        const cell = numberCell("td", k);
        skyline.demanded.filter((point) => point.l === l && point.m === m).forEach((point) => {
          cell.classList.add("demanded");
          cell.append(element("small", "★ demanded " + wholeNumber(point.k)));
        });
        row.append(cell);
      });
      body.append(row);
    });
    return frame;
  }

  function maximal(skyline) {
    if (!skyline.points.length) return null;
    const caption = "Maximal knowledge below " + skyline.confidence + " for “" + skyline.value
      + "”, and where one more step breaches it";
    const { frame, table, body } = framed(caption, ["ℓ", "k", "m", "Witness"], (i) => (i < 3 ? "number" : "text"));
    skyline.points.forEach((point) => {
      const row = element("tr");
      row.append(numberCell("td", point.l), numberCell("td", point.k), numberCell("td", point.m));
      row.append(element("td", point.witness || "—", { class: "text" }));
      body.append(row);
    });
    makeSortable(table);
    return frame;
  }

  function canDraw() {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  }

  function traces(skyline, colour) {
    const height = (k) => (typeof k === "number" ? k : null);
    const hover = "ℓ = %{y}, m = %{x}: k up to %{z}<extra></extra>";
    const cells = skyline.surface.flatMap((line, l) => line.map((k, m) => [m, l, height(k)])).filter((p) => p[2] !== null);
    const marker = (points, options) => ({
      type: "scatter3d", mode: "markers", hovertemplate: hover,
      x: points.map((p) => p[0]), y: points.map((p) => p[1]), z: points.map((p) => p[2]), ...options,
    });
    const drawn = [
      {
        type: "surface", z: skyline.surface.map((line) => line.map(height)), hovertemplate: hover, opacity: 0.8,
        colorscale: [[0, colour("--low")], [1, colour("--high")]], name: "largest safe k",
        colorbar: { title: { text: "k" }, thickness: 14, len: 0.6 },
      },
      marker(cells, { marker: { size: 2.5, color: colour("--ink") }, showlegend: false }),
    ];
    const highest = Math.max(1, ...cells.map((p) => p[2]));
    skyline.demanded.filter((p) => typeof p.k === "number").forEach((p) => {
      const safe = height((skyline.surface[p.l] || [])[p.m]) || 0;
      const stem = [[p.m, p.l, 0], [p.m, p.l, p.k], [p.m, p.l, Math.max(p.k, safe) + 0.15 * highest]];
      drawn.push(marker(stem, {
        mode: "lines+markers+text", text: ["", "", "★ demanded k = " + wholeNumber(p.k)], textposition: "top center",
        textfont: { color: colour("--ink") }, hoverinfo: "skip", hovertemplate: null, showlegend: false,
        line: { color: colour("--mark"), width: 5 },
        marker: { size: [0.1, 7, 0.1], symbol: "diamond", color: colour("--mark") },
      }));
    });
    return drawn;
  }

  function draw(skyline) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = (title, whole) => ({
      title: { text: title }, gridcolor: colour("--line"), zerolinecolor: colour("--line"), color: colour("--ink"),
      rangemode: "tozero", ...(whole ? { dtick: Math.max(1, Math.ceil(whole / 6)) } : {}),
    });
    const columns = skyline.surface.length ? skyline.surface[0].length : 0;
    const layout = {
      margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", font: { color: colour("--ink") },
      uirevision: "kept",
      scene: {
        xaxis: axis("m", columns), yaxis: axis("ℓ", skyline.surface.length), zaxis: axis("k"),
        camera: { eye: { x: 1.55, y: 1.55, z: 0.8 }, center: { x: 0, y: 0, z: -0.12 } }, aspectmode: "cube",
      },
    };
    window.Plotly.react(plot, traces(skyline, colour), layout, { responsive: true, displaylogo: false });
  }

  let inView = false;

  function comeIntoView() {
    if (!canDraw()) {
      plot.remove();
      return;
    }
    const library = document.createElement("script");
    library.textContent = document.getElementById("plot-library").textContent;
    document.head.append(library);
    inView = true;
    draw(chosen());
  }

  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    comeIntoView();
  }, { rootMargin: "200px" });

  function chosen() {
    return skylines[Number(confidenceChoice.value)];
  }

  function show() {
    const skyline = chosen();
    document.getElementById("knowledge-sentence").textContent = skyline.sentence;
    tables.replaceChildren(...[grid(skyline), maximal(skyline)].filter(Boolean));
    if (inView) draw(skyline);
  }

  function offerConfidences() {
    const before = confidenceChoice.selectedOptions[0] && confidenceChoice.selectedOptions[0].textContent;
    const options = skylines
      .map((skyline, place) => ({ skyline, place }))
      .filter((entry) => entry.skyline.value === valueChoice.value)
      .map((entry) => element("option", entry.skyline.confidence, { value: entry.place }));
    confidenceChoice.replaceChildren(...options);
    const same = options.find((option) => option.textContent === before);
    if (same) same.selected = true;
  }

  const values = Array.from(new Set(skylines.map((skyline) => skyline.value)));
  valueChoice.append(...values.map((value) => element("option", value, { value })));
  valueChoice.addEventListener("change", () => { offerConfidences(); show(); });
  confidenceChoice.addEventListener("change", show);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  offerConfidences();
  show();
  watcher.observe(plot);
})();
