/* What pages about many runs have in common: shares, intervals, heat. */

function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : fixed(share * 100, digits) + " %";
}

function span(interval, digits = 3) {
  return interval ? `${fixed(interval[0], digits)} – ${fixed(interval[1], digits)}` : "";
}

/* A cell of a heat map: the number, on a colour that is the stronger the higher it is. */
function heat(value, attributes) {
  const depth = value === null || value === undefined ? "none" : String(Math.max(0, Math.min(10, Math.round(value * 10))));
  return h("span", { class: "heat heat-" + depth, ...attributes }, fixed(value, 2));
}

/* Families by metrics; `columns` are [name, label, value of a summary]. */
function heatTable(caption, families, columns) {
  const rows = Object.entries(families).map(([family, summary]) => [
    said(words(family) || "no family"), String(summary.runs),
    ...columns.map(([name, , value]) => heat(value(summary), { "data-value": `${family}.${name}` })),
  ]);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table({
    caption, rows, className: "heatmap",
    columns: [{ label: "family", head: true }, { label: "runs", right: true }, ...columns.map(([, label]) => ({ label, className: "cell" }))],
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
