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
  if (!skylines.length || !document.getElementById("knowledge-value")) return;
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

  /* The larger the safe k, the deeper the cell: by its logarithm, for k falls fast. */

  function depth(k, largest) {
    if (k === null) return 0;
    const share = k === "∞" ? 1 : Math.log1p(k) / Math.log1p(Math.max(largest, 1));
    return Math.round(6 + 34 * share);
  }

  function grid(skyline) {
    const largest = Math.max(0, ...skyline.surface.flat().filter((k) => typeof k === "number"));
    const columns = skyline.surface.length ? skyline.surface[0].map((_, m) => "m = " + m) : [];
    const caption = "Largest k below " + skyline.confidence + " for “" + skyline.value + "”"
      + (skyline.demanded.length ? "; ★ marks what the spec demands" : "");
    const { frame, body } = framed(caption, ["ℓ"].concat(columns), () => "number");
    skyline.surface.forEach((line, l) => {
      const row = element("tr");
      row.append(element("th", "ℓ = " + l, { scope: "row", class: "number" }));
      line.forEach((k, m) => {
        const cell = numberCell("td", k, { class: k === null ? "number unsafe" : "number safe" });
        cell.style.setProperty("--depth", depth(k, largest) + "%");
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
    const { frame, table, body } = framed(caption, ["ℓ", "k", "m", "What one more step tells"], (i) => (i < 3 ? "number" : "told"));
    skyline.points.forEach((point) => {
      const row = element("tr");
      row.append(numberCell("td", point.l), numberCell("td", point.k), numberCell("td", point.m));
      const told = element("td", point.breaches.length ? null : "—", { class: "told" });
      const list = element("ul");
      list.append(...point.breaches.map((sentence) => element("li", sentence)));
      if (point.breaches.length) told.append(list);
      row.append(told);
      body.append(row);
    });
    makeSortable(table);
    return frame;
  }

  function chosen() {
    return skylines[Number(confidenceChoice.value)];
  }

  function show() {
    const skyline = chosen();
    document.getElementById("knowledge-sentence").textContent = skyline.sentence;
    tables.replaceChildren(...[grid(skyline), maximal(skyline)].filter(Boolean));
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
  offerConfidences();
  show();
})();
