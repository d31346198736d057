/* The page of a leaderboard. */

const KINDS = { model: "model", baseline: "baseline", client: "client" };

pages.leaderboard = (data, root) => {
  const main = frame(root, "leaderboard", ["Written by m3bench; nothing on this page is loaded from anywhere. Ranks: one more than the number of sets that are clearly better, task by task (permutation test over clusters, 5 %, Holm over all pairs); sets that cannot be told apart share one."]);
  main.append(...[
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Leaderboard"), h("p", { class: "soft" }, count(data.entries.length, "result set")))),
    data.mixed.length ? h("div", { class: "warning", role: "note" }, h("p", {}, "These sets were not made under the same conditions: their numbers do not compare, and they have no ranks."), h("ul", {}, data.mixed.map((line) => h("li", { class: "small" }, said(line))))) : null,
    data.common ? h("p", { class: "warning", role: "note" }, `Only the ${data.common.tasks} tasks that all sets have are compared here.`) : null,
    standingsSection(data),
    h("div", { class: "columns" }, radarSection(data)),
    section("families", "Families", "average of each set in each family", familyTable(data)),
    pairsSection(data),
    publishedSection(data),
  ].filter(Boolean));
};

function standingsSection(data) {
  const holder = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Standings" });
  const chosen = { profile: "", manifest: "", kind: "" };
  const priced = data.entries.some((entry) => entry.usage.cost !== null);
  const values = (name) => [...new Set(data.entries.flatMap((entry) => entry[name]))].sort();
  const columns = [
    { label: "rank", right: true }, { label: "set", head: true }, { label: "solved", right: true }, { label: "95 % interval" },
    { label: "", hide: true, className: "drawing" }, { label: "average", right: true }, { label: "95 % interval" }, { label: "rank by average", right: true }, { label: "paper's metric", right: true }, ...data.legend.map((metric) => ({ label: metric.label, right: true })),
    { label: "samples", right: true }, ...(priced ? [{ label: "cost", right: true }] : []),
  ];
  function draw() {
    const shown = data.entries.filter((entry) => (!chosen.profile || entry.profile === chosen.profile)
      && (!chosen.manifest || entry.manifest.includes(chosen.manifest)) && (!chosen.kind || entry.kind === chosen.kind));
    const rows = shown.map((entry) => {
      const { metrics, intervals, success } = entry.summary;
      const between = entry.summary.success_interval;
      const [low, high] = between || [success, success];
      const ranked = (name) => (entry.ranks[name] ? `${entry.ranks[name].rank}` : "–");
      const places = (name) => (entry.ranks[name] && entry.ranks[name].interval[0] !== entry.ranks[name].interval[1] ? h("span", { class: "soft small" }, ` ${entry.ranks[name].interval.join("–")}`) : null);
      const first = entry.ranks.solved ? "solved" : "average";
      const number = (name, text) => h("span", { "data-value": `${entry.name}.${name}` }, text);
      return [[number("rank", ranked(first)), places(first)],
        [said(entry.name), " ", badge(entry.kind === "baseline" ? "extra" : "plain", KINDS[entry.kind] || entry.kind), h("span", { class: "soft small" }, " ", said([entry.solver, entry.profile].filter(Boolean).join(" · ")))],
        number("success", percent(success)), h("span", { class: "number soft" }, between ? `${percent(between[0])} – ${percent(between[1])}` : ""),
        bar({ value: success, low, high, label: `solved ${percent(success)}`, tone: entry.kind === "baseline" ? "extra" : "" }),
        number("average", fixed(metrics.average)), h("span", { class: "number soft" }, span(intervals.average)), [ranked("average"), places("average")], number("paper", fixed(entry.summary.paper)), ...data.legend.map((metric) => number(metric.name, fixed(metrics[metric.name]))),
        grouped(entry.counts.scored), ...(priced ? [entry.usage.cost === null ? "–" : "$ " + fixed(entry.usage.cost, 2)] : [])];
    });
    holder.replaceChildren(table({ columns, rows, className: "standings" }));
  }
  const filter = (name, label) => {
    const options = values(name);
    if (options.length < 2) return null;
    const select = h("select", { id: "by-" + name, "aria-label": label, change: () => { chosen[name] = select.value; draw(); } },
      h("option", { value: "" }, "every " + label.toLowerCase()), options.map((value) => h("option", { value }, value)));
    return select;
  };
  draw();
  return section("standings", "Standings", "", h("div", { class: "filters" }, filter("kind", "Kind"), filter("profile", "Profile"), filter("manifest", "Manifest")), holder);
}

/* Up to five sets on the axes of the families. */
function radarSection(data) {
  const families = [...new Set(data.entries.flatMap((entry) => Object.keys(entry.families)))].sort();
  if (families.length < 3) return null;
  const entries = data.entries.slice(0, 5);
  const [size, middle, reach] = [420, 210, 150];
  const at = (index, value) => {
    const angle = (2 * Math.PI * index) / families.length - Math.PI / 2;
    return [middle + Math.cos(angle) * reach * value, middle + Math.sin(angle) * reach * value];
  };
  const path = (value) => families.map((family, index) => at(index, value(family)).map((part) => fixed(part, 1)).join(",")).join(" ");
  const drawing = s("svg", { class: "radar", viewBox: `-100 0 ${size + 200} ${size}`, role: "img", "aria-label": "Average by family; the table below has the numbers" },
    [0.25, 0.5, 0.75, 1].map((ring) => s("polygon", { class: "ring", points: path(() => ring) })),
    families.map((family, index) => {
      const [x, y] = at(index, 1.08);
      return s("text", { x: fixed(x, 1), y: fixed(y + 3, 1), "text-anchor": Math.abs(x - middle) < 8 ? "middle" : x > middle ? "start" : "end" }, words(family));
    }),
    entries.map((entry, index) => s("polygon", { class: "blade blade-" + index, points: path((family) => (entry.families[family] ? entry.families[family].metrics.average || 0 : 0)) })));
  return section("radar", "By family", entries.length < data.entries.length ? "the first five" : "",
    h("div", { class: "radarbox" }, drawing, h("ul", { class: "key small" }, entries.map((entry, index) => h("li", {}, h("span", { class: "swatch blade-" + index }), said(entry.name))))));
}

function familyTable(data) {
  const families = [...new Set(data.entries.flatMap((entry) => Object.keys(entry.families)))].sort();
  const rows = families.map((family) => [said(words(family)), ...data.entries.map((entry) => heat(entry.families[family] ? entry.families[family].metrics.average : null, { "data-value": `${entry.name}.${family}` }))]);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Families" },
    table({ className: "heatmap", columns: [{ label: "family", head: true }, ...data.entries.map((entry) => ({ label: said(entry.name, 24), className: "cell" }))], rows }));
}

function pairsSection(data) {
  if (!data.pairs.length) return null;
  const rows = data.pairs.map((pair) => [pair.number, said(pair.first), said(pair.second), String(pair.tasks), signed(pair.difference), pair.interval ? `${signed(pair.interval[0])} … ${signed(pair.interval[1])}` : "", fixed(pair.p), fixed(pair.p_holm),
    pair.clear ? badge("strong", "clear") : badge("plain", "cannot be told apart"), `${pair.better} : ${pair.worse}`, fixed(pair.detectable)]);
  return section("pairs", "Pairwise comparison", "second minus first, over the tasks both have", disclosure("Every pair", () => h("div", { class: "scroll", tabindex: "0" }, table({ className: "small",
    columns: [{ label: "number", head: true }, { label: "first" }, { label: "second" }, { label: "tasks", right: true }, { label: "difference", right: true }, { label: "95 % interval" }, { label: "p", right: true }, { label: "p, Holm", right: true }, { label: "" }, { label: "better : worse", right: true }, { label: "detectable", right: true }], rows }))));
}

function publishedSection(data) {
  const columns = Object.keys(data.published.rows[0]).filter((name) => name !== "name");
  return section("published", "Published figures", "not comparable", h("p", { class: "warning small" }, `From ${data.published.source}. They came from a prompt-driven text loop over other servers and tasks, and their average includes a judged column: context, not a baseline.`),
    disclosure("Show them", () => h("div", { class: "scroll", tabindex: "0" }, table({ className: "small", columns: [{ label: "model", head: true }, ...columns.map((name) => ({ label: words(name), right: true }))],
      rows: data.published.rows.map((row) => [row.name, ...columns.map((name) => fixed(row[name]))]) }))));
}
