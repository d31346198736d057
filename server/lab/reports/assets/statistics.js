/* What pages about many runs have in common: shares, intervals, heat. */

function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : fixed(share * 100, digits) + " %";
}

function span(interval, digits = 3) {
  return interval ? `${fixed(interval[0], digits)} – ${fixed(interval[1], digits)}` : "";
}

/* A cell of a heat map: the number, on a colour that is the stronger the higher it is, and of how many it is. */
function heat(value, attributes, n, digits = 2) {
  const depth = value === null || value === undefined ? "none" : String(Math.max(0, Math.min(10, Math.round(value * 10))));
  return h("span", { class: "heat heat-" + depth }, h("span", attributes, fixed(value, digits)), n === undefined ? null : h("span", { class: "n" }, "n " + grouped(n)));
}

/* Families by metrics; `columns` are [name, label, value of a summary]. */
function heatTable(caption, families, columns, head = "family") {
  const rows = Object.entries(families).map(([family, summary]) => [
    said(words(family) || "no family"),
    ...columns.map(([name, , value]) => heat(value(summary), { "data-value": `${family}.${name}` }, name === "success" ? summary.checked : summary.runs)),
  ]);
  return h("div", {}, table({
    caption, rows, className: "heatmap", stack: true,
    columns: [{ label: head, head: true }, ...columns.map(([, label]) => ({ label, className: "cell" }))],
  }));
}

function metricColumns(legend) {
  return [
    ["success", "solved", (summary) => summary.success],
    ["average", "average", (summary) => summary.metrics.average],
    ...legend.map((metric) => [metric.name, metric.label, (summary) => summary.metrics[metric.name]]),
  ];
}

/* The headline of a summary: share solved and average, with their intervals. */
function summaryHeadline(summary) {
  return h("div", { class: "headline" },
    h("p", { class: "verdict" },
      h("b", { "data-value": "success" }, percent(summary.success)), " solved ",
      h("span", { class: "soft" }, `${summary.solved} of ${summary.checked}`, summary.success_interval ? `, 95 % interval ${percent(summary.success_interval[0])} – ${percent(summary.success_interval[1])}` : "")),
    h("p", { class: "average" },
      h("span", { class: "figure", "data-value": "average" }, fixed(summary.metrics.average)),
      h("span", { class: "soft small" }, summary.profile === "effect" ? "average by effect" : "average by the paper's metric", h("br"), summary.intervals.average ? "95 % interval " + span(summary.intervals.average) : "",
        summary.profile === "effect" ? [h("br"), "paper's metric ", h("span", { class: "number", "data-value": "paper" }, fixed(summary.paper))] : null)),
    summary.note ? h("p", { class: "soft small" }, summary.note) : null);
}

function summaryMetrics(summary, legend) {
  const rows = legend.map((metric) => {
    const value = summary.metrics[metric.name];
    const [low, high] = summary.intervals[metric.name] || [value, value];
    return h("li", { class: "metric" },
      h("span", { class: "label" }, h("b", {}, metric.label), h("span", { class: "soft small" }, metric.meaning)),
      h("span", { class: "drawing" }, bar({ value, low, high, label: `${metric.label} ${fixed(value)}` })),
      h("span", { class: "value number", "data-value": metric.name }, fixed(value)),
      h("span", { class: "working small soft" }, summary.intervals[metric.name] ? `95 % interval ${span(summary.intervals[metric.name])}` : ""));
  });
  return section("metrics", "Metrics", summary.profile === "effect" ? "means over tasks; marks show the interval" : "over all runs, weighted by needed calls; marks show the interval", h("ul", { class: "metrics" }, rows));
}

/* ---- what pages of a site have in common ---- */

function mixedNote(lines) {
  return lines.length ? h("div", { class: "warning", role: "note" }, h("p", {}, "These sets were not made under the same conditions: their numbers do not compare, and they have no ranks."), h("ul", {}, lines.map((line) => h("li", { class: "small" }, said(line))))) : null;
}

function manifestTable(manifest) {
  return scrolled("Manifest", table({ columns: [{ label: "what", head: true }, { label: "version" }], rows: Object.entries(manifest).map(([name, value]) => [words(name), h("code", {}, said(brief(value, 300)))]), className: "small" }));
}

/* What became of samples: one bar for each set, a part for each class. */
const CLASS_ORDER = ["solved", "unchecked", "limit", "world", "no answer", "no calls", "failed calls", "other arguments", "missing calls", "wrong answer", "void: tool", "void: sandbox", "void: proxy", "void: provider"];

function classTone(name) {
  return "class-" + Math.max(0, CLASS_ORDER.indexOf(name));
}

function failureShares(sets, label) {
  const present = CLASS_ORDER.filter((name) => sets.some((one) => one.failures.some((found) => found.class === name)));
  const means = new Map(sets.flatMap((one) => one.failures.map((found) => [found.class, found.means])));
  const bars = sets.map((one) => {
    const total = one.failures.reduce((sum, found) => sum + found.runs, 0);
    let at = 0;
    const parts = one.failures.map((found) => {
      const x = at;
      at += found.runs;
      return s("rect", { class: classTone(found.class), x: (100 * x) / total + "%", width: (100 * found.runs) / total + "%", height: 16 }, s("title", {}, `${found.class}: ${found.runs} of ${total}`));
    });
    return h("li", {}, h("span", {}, one.address || label ? linked(one.address, said(one.name)) : said(one.name)), s("svg", { role: "img", "aria-label": one.failures.map((found) => `${found.class} ${found.runs}`).join(", ") }, parts), h("span", { class: "number soft small" }, "n " + grouped(total)));
  });
  const rows = present.map((name) => [name, ...sets.map((one) => String((one.failures.find((found) => found.class === name) || { runs: 0 }).runs)), means.get(name) || ""]);
  return [h("ul", { class: "class-key small" }, present.map((name) => h("li", {}, s("svg", { "aria-hidden": "true" }, s("rect", { class: classTone(name), width: 14, height: 14, rx: 2 })), name))),
    h("ul", { class: "shares" }, bars),
    disclosure("As a table", () => scrolled("What became of the samples", table({ className: "small matrix", columns: [{ label: "class", head: true }, ...sets.map((one) => ({ label: said(one.name, 28), className: "cell" })), { label: "meaning" }], rows })), { class: "small" })];
}
