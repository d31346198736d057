/* The page of a leaderboard. */

const KINDS = { model: "model", baseline: "baseline", client: "client", people: "people: a ceiling" };

pages.leaderboard = (data, root) => {
  const main = frame(root, "leaderboard", [`Written by m3bench; nothing on this page is loaded from anywhere. A rank is the range of places that the data allow at 95 %, ${data.joint ? "for all sets together" : "for each set by itself"} (inference for ranks after Mogstad and others, clustered by family).`], data.links, data.links ? [["Home", data.links.home], ["Board"]] : null);
  main.append(...[
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Leaderboard"), h("p", { class: "soft" }, count(data.entries.length, "result set")))),
    mixedNote(data.mixed),
    data.common ? h("p", { class: "warning", role: "note" }, `Only the ${data.common.tasks} tasks that all sets have are compared here.`) : null,
    ...Object.entries(data.cautions).map(([number, text]) => h("p", { class: "warning", role: "note" }, `By ${number}: ${text}`)),
    standingsSection(data),
    levelSection(data),
    plotSection(data),
    section("metrics", "Metrics", "means over tasks, by set", metricTable(data)),
    section("failures", "What became of the samples", "every sample has one class", failureShares(data.entries.map((entry) => ({ name: entry.name, failures: entry.failures, address: setAddress(data, entry) })))),
    section("families", "Families", "average of each set in each family", familyTable(data)),
    pairsSection(data),
    publishedSection(data),
    downloads(data.downloads),
  ].filter(Boolean));
};

const LEVELS = ["refuted", "consistent", "replayed", "attested"];

function levelTone(level) {
  return level === "refuted" ? "missed" : level === "consistent" ? "plain" : "strong";
}

/* How far a set can be trusted, in a word, with what that word leaves out. */
function levelOf(entry) {
  if (!entry.verdict) return "–";
  const [level, ...rest] = entry.verdict.summary.split(", ");
  return [h("span", { "data-value": `${entry.name}.level` }, badge(levelTone(level), level)), h("span", { class: "soft small" }, " ", said(rest.join(", ").replace(/ by [0-9a-f, ]+$/, "")))];
}

/* What every level on the board proves and what it cannot, and what was found beside it. */
function levelSection(data) {
  const known = data.entries.filter((entry) => entry.verdict);
  if (!known.length) return null;
  const levels = [...new Map(known.map((entry) => [entry.verdict.verdict, entry.verdict])).values()];
  const scored = (entry) => `${entry.verdict.coverage.scored} of ${entry.verdict.coverage.planned}, ${entry.verdict.coverage.void} void, ${entry.verdict.coverage.missing} missing`;
  const counted = (entry) => Object.entries(entry.verdict.starts).map(([state, number]) => `${number} ${state}`).join(", ") || "not known";
  return section("levels", "How far each set can be trusted", "what was to be played and was not submitted counts as not solved",
    table({ stack: true, className: "sentences", columns: [{ label: "level", head: true }, { label: "what it proves" }, { label: "what it cannot" }], rows: levels.map((one) => [badge(levelTone(one.verdict), one.verdict), one.proves, one.cannot_prove]) }),
    table({ stack: true, className: "sentences", columns: [{ label: "set", head: true }, { label: "tasks" }, { label: "runs that its server counts" }, { label: "notes" }],
      rows: known.map((entry) => [linked(setAddress(data, entry), said(entry.name)), scored(entry), said(counted(entry)), h("span", { class: "small" }, said(entry.verdict.notes.join(" "), 2000))]) }));
}

function setAddress(data, entry) {
  return data.links ? data.links.set[entry.name] : null;
}

/* What a scored sample took on average; null when it is not known. */
const PER_SAMPLE = {
  cost: ["cost", "US dollars per sample", (usage) => usage.cost],
  seconds: ["time", "seconds per sample", (usage) => usage.seconds],
  tokens: ["tokens", "tokens per sample", (usage) => usage.input_tokens + usage.output_tokens],
  calls: ["calls", "calls per sample", (usage) => usage.calls],
};

function perSample(entry, name) {
  const total = PER_SAMPLE[name][2](entry.usage);
  return total === null || !total || !entry.counts.scored ? null : total / entry.counts.scored;
}

function standingsSection(data) {
  const chosen = { profile: "", manifest: "", kind: "", text: "" };
  const priced = data.entries.some((entry) => entry.usage.cost !== null);
  const values = (name) => [...new Set(data.entries.flatMap((entry) => entry[name]))].sort();
  const ranked = (entry, name) => (entry.ranks[name] ? entry.ranks[name].rank : null);
  const first = (entry) => (entry.ranks.solved ? "solved" : "average");
  const number = (entry, name, text) => h("span", { "data-value": `${entry.name}.${name}` }, text);
  const rankText = (entry, name) => (ranked(entry, name) === null ? "–" : [...new Set(entry.ranks[name].interval)].join("–"));
  const measured = (entry, name) => (entry.measures || []).find((one) => one.name === name);
  const measures = data.entries.flatMap((entry) => entry.measures || []).filter((one, at, all) => all.findIndex((other) => other.name === one.name) === at);
  const columns = [
    { label: "rank", right: true, by: (entry) => (ranked(entry, first(entry)) === null ? null : -ranked(entry, first(entry))), cell: (entry) => [number(entry, "rank", rankText(entry, first(entry)))] },
    { label: "set", head: true, by: (entry) => entry.name, cell: (entry) => [linked(setAddress(data, entry), said(entry.name)), " ", badge(entry.kind === "baseline" ? "extra" : "plain", KINDS[entry.kind] || entry.kind), h("span", { class: "soft small" }, " ", said([entry.solver, entry.profile].filter(Boolean).join(" · ")))] },
    ...(data.entries.some((entry) => entry.verdict) ? [{ label: "level", by: (entry) => (entry.verdict ? LEVELS.indexOf(entry.verdict.verdict) : null), cell: (entry) => levelOf(entry) }] : []),
    { label: "solved", right: true, by: (entry) => entry.summary.success, cell: (entry) => [number(entry, "success", percent(entry.summary.success)), h("span", { class: "n" }, "n " + grouped(entry.summary.checked))] },
    { label: "solved as a bar", hide: true, className: "drawing", cell: (entry) => { const [low, high] = entry.summary.success_interval || [entry.summary.success, entry.summary.success]; return bar({ value: entry.summary.success, low, high, label: `solved ${percent(entry.summary.success)}`, tone: entry.kind === "baseline" ? "extra" : "" }); } },
    { label: "95 % interval", cell: (entry) => h("span", { class: "number soft" }, entry.summary.success_interval ? `${fixed(entry.summary.success_interval[0] * 100, 1)} – ${percent(entry.summary.success_interval[1])}` : "–") },
    { label: "average", right: true, by: (entry) => entry.summary.metrics.average, cell: (entry) => [number(entry, "average", fixed(entry.summary.metrics.average)), h("span", { class: "n" }, "n " + grouped(entry.summary.runs))] },
    { label: "interval of the average", short: "its 95 % interval", cell: (entry) => h("span", { class: "number soft" }, span(entry.summary.intervals.average) || "–") },
    { label: "rank by average", right: true, by: (entry) => (ranked(entry, "average") === null ? null : -ranked(entry, "average")), cell: (entry) => rankText(entry, "average") },
    ...measures.map((one) => ({ label: one.label, right: true, by: (entry) => measured(entry, one.name)?.value ?? null, cell: (entry) => { const found = measured(entry, one.name); return found ? [percent(found.value), h("span", { class: "n" }, found.interval ? `${fixed(found.interval[0] * 100, 1)} – ${percent(found.interval[1])}` : "")] : "–"; } })),
    { label: "calls", right: true, by: (entry) => perSample(entry, "calls"), cell: (entry) => fixed(perSample(entry, "calls"), 1) },
    { label: "time", right: true, by: (entry) => perSample(entry, "seconds"), cell: (entry) => (perSample(entry, "seconds") === null ? "–" : duration(perSample(entry, "seconds") * 1e9)) },
    ...(priced ? [{ label: "cost", right: true, by: (entry) => perSample(entry, "cost"), cell: (entry) => (perSample(entry, "cost") === null ? "–" : "$ " + fixed(perSample(entry, "cost"), 3)) }] : []),
    { label: "void", right: true, by: (entry) => entry.counts.void, cell: (entry) => grouped(entry.counts.void) },
  ];
  const drawn = sortable({ columns, items: data.entries, stack: true, className: "standings", label: "sets" });
  const status = h("p", { class: "soft small", role: "status" });
  function draw() {
    const wanted = chosen.text.toLowerCase();
    const shown = data.entries.filter((entry) => (!chosen.profile || entry.profile === chosen.profile)
      && (!chosen.manifest || entry.manifest.includes(chosen.manifest)) && (!chosen.kind || entry.kind === chosen.kind)
      && (!wanted || `${entry.name} ${entry.agent}`.toLowerCase().includes(wanted)));
    drawn.show(shown);
    status.textContent = shown.length === data.entries.length ? "" : `${shown.length} of ${count(data.entries.length, "set")}`;
  }
  const filter = (name, label) => {
    const options = values(name);
    if (options.length < 2) return null;
    const select = h("select", { id: "by-" + name, "aria-label": label, change: () => { chosen[name] = select.value; draw(); } },
      h("option", { value: "" }, "every " + label.toLowerCase()), options.map((value) => h("option", { value }, value)));
    return select;
  };
  const text = h("input", { type: "search", id: "by-text", placeholder: "search", "aria-label": "Part of a set's name", input: () => { chosen.text = text.value.trim(); draw(); } });
  return section("standings", "Standings", "calls, time and cost are means of a sample", h("div", { class: "filters" }, text, filter("kind", "Kind"), filter("profile", "Profile"), filter("manifest", "Manifest"), status), drawn.node);
}

/* The metrics that the average is made of. */
function metricTable(data) {
  const columns = [
    { label: "set", head: true, by: (entry) => entry.name, cell: (entry) => linked(setAddress(data, entry), said(entry.name, 60)) },
    ...data.legend.map((metric) => ({ label: metric.label, className: "cell", by: (entry) => entry.summary.metrics[metric.name] ?? null,
      cell: (entry) => heat(entry.summary.metrics[metric.name], { "data-value": `${entry.name}.${metric.name}` }, entry.summary.runs, 3) })),
    { label: "paper's metric", className: "cell", by: (entry) => entry.summary.paper, cell: (entry) => heat(entry.summary.paper, { "data-value": `${entry.name}.paper` }, entry.summary.runs, 3) },
  ];
  return sortable({ columns, items: data.entries, stack: true, className: "heatmap", label: "sets by metric" }).node;
}

/* Solved against what it took: a dot for each set, with its interval. */
function plotSection(data) {
  const names = Object.keys(PER_SAMPLE).filter((name) => data.entries.filter((entry) => perSample(entry, name) !== null && entry.summary.success !== null).length > 1);
  if (!names.length) return null;
  const holder = h("div", {});
  const buttons = names.map((name) => h("button", { type: "button", class: "button", "data-plot": name, click: () => draw(name) }, PER_SAMPLE[name][0]));
  function draw(name) {
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.plot === name)));
    holder.replaceChildren(plot(data, name));
  }
  draw(names[0]);
  return section("plot", "Solved against what it took", "marks show the 95 % interval", h("div", { class: "tabs", role: "group", "aria-label": "Against" }, buttons), holder);
}

function plot(data, name) {
  const entries = data.entries.filter((entry) => perSample(entry, name) !== null && entry.summary.success !== null);
  const values = entries.map((entry) => perSample(entry, name));
  const wide = innerWidth > 700;
  const [width, height, left, bottom, top] = [wide ? 860 : 400, wide ? 380 : 360, 44, 46, 34];
  const right = width - (wide ? 150 : 90);
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const [from, to] = high - low < 0.15 ? [low - 0.15, high + 0.15] : [low - (high - low) * 0.06, high + (high - low) * 0.06];
  const x = (value) => left + ((Math.log10(value) - from) / (to - from)) * (right - left);
  const y = (share) => height - bottom - share * (height - bottom - top);
  const brief = (value) => (value >= 1000 ? grouped(Math.round(value)) : value >= 100 ? fixed(value, 0) : String(Number(value.toPrecision(2))));
  const ticks = [0, 1, 2, 3].map((part) => 10 ** (from + ((to - from) * (part + 0.5)) / 4));
  const taken = [];
  const dots = [...entries].sort((one, other) => one.summary.success - other.summary.success).map((entry) => {
    const [px, py] = [x(perSample(entry, name)), y(entry.summary.success)];
    let line = py - 6;
    while (taken.some(([tx, ty]) => Math.abs(tx - px) < 130 && Math.abs(ty - line) < 13)) line -= 13;
    taken.push([px, line]);
    const between = entry.summary.success_interval;
    const text = `${entry.name}: solved ${percent(entry.summary.success)}, ${brief(perSample(entry, name))} ${PER_SAMPLE[name][1]}, n ${entry.summary.checked}`;
    const parts = [s("title", {}, text), between ? s("line", { class: "error", x1: px, x2: px, y1: y(between[0]), y2: y(between[1]) }) : null,
      s("circle", { class: "dot", cx: px, cy: py, r: 5.5 }), entries.length > 25 ? null : s("text", { class: "label", x: px + 8, y: line }, clip(entry.name, wide ? 24 : 14))];
    const address = setAddress(data, entry);
    return s("g", { class: entry.kind === "baseline" ? "baseline" : "" }, address ? s("a", { href: address, "aria-label": entries.length > 25 ? text : null }, parts) : parts);
  });
  return s("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Solved against ${PER_SAMPLE[name][1]}; the standings have the numbers` },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [s("line", { class: "grid", x1: left, x2: right, y1: y(share), y2: y(share) }), s("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, String(share * 100))]),
    ticks.map((value) => [s("line", { class: "axis-line", x1: x(value), x2: x(value), y1: height - bottom, y2: height - bottom + 5 }), s("text", { x: x(value), y: height - bottom + 18, "text-anchor": "middle" }, brief(value))]),
    s("line", { class: "axis-line", x1: left, x2: right, y1: height - bottom, y2: height - bottom }),
    s("text", { x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, PER_SAMPLE[name][1]), s("text", { x: 2, y: 10 }, "solved, %"), dots);
}

function familyTable(data) {
  const families = [...new Set(data.entries.flatMap((entry) => Object.keys(entry.families)))].sort();
  const rows = families.map((family) => [said(words(family)), ...data.entries.map((entry) => { const found = entry.families[family]; return heat(found ? found.metrics.average : null, { "data-value": `${entry.name}.${family}` }, found ? found.runs : 0); })]);
  const few = data.entries.length <= 12;
  const drawn = table({ className: "heatmap", stack: few, columns: [{ label: "family", head: true }, ...data.entries.map((entry) => ({ label: linked(setAddress(data, entry), said(entry.name, 24)), short: clip(entry.name, 24), className: "cell" }))], rows });
  return few ? drawn : scrolled("Families", drawn);
}

const FIRST_PAIRS = 100;

function pairsSection(data) {
  if (!data.pairs.length) return null;
  const columns = [
    { label: "number", head: true, cell: (pair) => pair.number }, { label: "first", cell: (pair) => said(pair.first) }, { label: "second", cell: (pair) => said(pair.second) },
    { label: "tasks", right: true, cell: (pair) => String(pair.tasks) }, { label: "difference", right: true, cell: (pair) => signed(pair.difference) },
    { label: "95 % interval", cell: (pair) => (pair.interval ? `${signed(pair.interval[0])} … ${signed(pair.interval[1])}` : "") },
    { label: "p", right: true, cell: (pair) => (pair.p === null ? "–" : pair.p < 0.001 ? "< 0.001" : fixed(pair.p)) },
    { label: "verdict", hide: true, cell: (pair) => (pair.clear ? badge("strong", "clear") : badge("plain", "cannot be told apart")) },
    { label: "better : worse", right: true, cell: (pair) => `${pair.better} : ${pair.worse}` }, { label: "detectable", right: true, cell: (pair) => fixed(pair.detectable) }];
  return section("pairs", "Pairwise comparison", "second minus first, over the tasks both have", disclosure(`Every pair: ${grouped(data.pairs.length)}`, () =>
    sortable({ columns, items: data.pairs, className: "small", first: FIRST_PAIRS, label: "Every pair" }).node));
}

function publishedSection(data) {
  const columns = Object.keys(data.published.rows[0]).filter((name) => name !== "name");
  return section("published", "Published figures", "not comparable", h("p", { class: "warning small" }, `From ${data.published.source}. They came from a prompt-driven text loop over other servers and tasks, and their average includes a judged column: context, not a baseline.`),
    disclosure("Show them", () => scrolled("Published figures", table({ className: "small", columns: [{ label: "model", head: true }, ...columns.map((name) => ({ label: words(name), right: true }))],
      rows: data.published.rows.map((row) => [row.name, ...columns.map((name) => fixed(row[name]))]) }))));
}
