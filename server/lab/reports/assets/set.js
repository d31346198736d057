/* The page of a result set. */

const FAULTS = {
  missed: "a needed call was not made", unlike: "made with very different arguments", failed: "made, but it failed", extra: "calls that were not needed",
  arguments: "arguments that differ", apart: "parallel calls sent separately", mixed: "steps mixed together", order: "the wrong order",
};

pages.set = (data, root) => {
  const { set, counts, summary } = data;
  const main = frame(root, `results of ${set.name}`, ["Written by m3bench; nothing on this page is loaded from anywhere."], data.links, data.links ? [["Home", data.links.home], ["Board", data.links.board], [set.name]].filter(([, address], at) => at === 2 || address) : null);
  main.append(...[
    setOpening(data),
    data.manifests.length > 1 ? h("p", { class: "warning", role: "note" }, `The runs of this set have ${data.manifests.length} different manifests: their numbers do not compare.`) : null,
    cautionNote(data.uncertainty),
    runsSection(data),
    summaryMetrics(summary, data.legend),
    section("families", "Families", "the stronger the colour, the higher the value", heatTable("Mean of each metric by family", data.families, metricColumns(data.legend))),
    slicesSection(data),
    uncertaintySection(data),
    peopleSection(data),
    section("failures", "What became of the samples", "every sample has one class", failureShares([{ name: set.name, failures: data.failures }])),
    h("div", { class: "columns" }, faultsSection(data), outcomesSection(data), repeatsSection(data)),
    perceptionSection(data),
    errorsSection(data),
    toolsSection(data),
    noted("worst", "Weakest runs", data.worst.map((run) => ({ run, why: "" })), data),
    noted("informative", "Most informative runs", data.informative, data),
    counts.void ? section("void", "Void samples", "ended by something that was not the agent's doing; not counted",
      table({ stack: true, columns: [{ label: "task", head: true }, { label: "repeat", right: true }, { label: "why" }], rows: data.void.map((one) => [said(one.task), String(one.repeat), said(one.why)]), className: "small" })) : null,
    section("manifest", "Manifest", "what makes two sets comparable", disclosure("Versions and hashes", () => data.manifests.map(manifestTable))),
    downloads(data.downloads),
  ].filter(Boolean));
};

function setOpening({ set, counts, summary, usage, gaps, conduct, measures }) {
  const numbers = facts([
    ["agent", set.agent + (set.solver ? `, ${set.solver}` : "")],
    ["profile", set.profile],
    ["samples", `${grouped(counts.scored)} scored of ${grouped(counts.planned)}` + (counts.void ? `, ${grouped(counts.void)} void` : "") + (counts.missing ? `, ${grouped(counts.missing)} missing` : "")],
    ["calls", `${grouped(usage.calls)} in ${count(usage.steps, "step")}`],
    ["recovered", conduct && conduct.met ? `${grouped(conduct.survived)} of ${grouped(conduct.met)} calls that the weather took` : null],
    ["unwanted effects", conduct && conduct.unwanted ? grouped(conduct.unwanted) : null],
    ...(measures || []).filter((one) => one.name !== "recovery").map((one) => [one.label, `${percent(one.value)}${one.interval ? ` (${fixed(one.interval[0] * 100, 1)} – ${percent(one.interval[1])})` : ""} of ${count(one.tasks, "task")}`]),
    ["lost to gaps", gaps.calls ? `${count(gaps.calls, "call")}, ${fixed(100 * gaps.share, 1)} %` : null],
    ["tokens", usage.input_tokens + usage.output_tokens ? `${grouped(usage.input_tokens)} in, ${grouped(usage.output_tokens)} out` : null],
    ["cost", usage.cost === null ? null : "$ " + fixed(usage.cost, 2)],
    ["time", duration(usage.seconds * 1e9)],
  ]);
  return h("div", { class: "opening plain" },
    h("div", { class: "title" }, h("h1", {}, said(set.name)), h("p", { class: "soft" }, set.kind)),
    h("div", { class: "score" }, summaryHeadline(summary)), h("div", { class: "texts" }, numbers));
}

function faultsSection({ faults }) {
  const kinds = Object.entries(faults).sort((one, other) => other[1].points - one[1].points);
  if (!kinds.length) return section("faults", "What cost points", "", h("p", { class: "soft" }, "Nothing did."));
  const most = kinds[0][1].points;
  return section("faults", "What cost points", "points of average, over all runs", h("ul", { class: "outcomes" }, kinds.map(([kind, { runs, points }]) => h("li", {},
    h("span", { class: "number", "data-value": "faults." + kind }, fixed(points, 2)), h("span", { class: "small" }, FAULTS[kind] || words(kind), h("span", { class: "soft" }, ` · ${count(runs, "run")}`)),
    h("span", { class: "drawing" }, bar({ value: points / most, label: `${fixed(points, 2)} points`, tone: "weak" }))))));
}

/* What the intervals of a set do not cover, where it has few families. */
function cautionNote({ solved, average }) {
  const text = solved.caution || average.caution;
  return text ? h("p", { class: "warning", role: "note", "data-value": "caution" }, text) : null;
}

/* How sure the two headline numbers are, and why they are no surer. */
function uncertaintySection({ uncertainty, counts }) {
  const rows = Object.entries(uncertainty).filter(([, one]) => one.value !== null).map(([name, one]) => {
    const shares = one.variance ? one.variance.shares : {};
    return [name, fixed(one.value), span(one.interval), span(one.same_families), fixed(one.micro), fixed(one.macro),
      ["family", "task", "repeat"].map((part) => percent(shares[part], 0)).join(" · "), fixed(one.detectable), ...(counts.void ? [span(one.with_voids)] : [])];
  });
  if (!rows.length) return null;
  const columns = ["number", "mean over tasks", "95 % interval", "for these families", "over runs", "over families", "variance: family · task · repeat", "detectable", ...(counts.void ? ["with voids"] : [])];
  return section("uncertainty", "How sure", "clusters are families; where there is one family, tasks", h("div", {},
    table({ className: "small", stack: true, columns: columns.map((label, index) => (index ? { label } : { label, head: true })), rows })),
  h("p", { class: "soft small" }, "Detectable: the smallest true difference to another set of this size that is found four times out of five; there is none with fewer than eight families, which allow no test. With voids: had every void sample failed, and had every one succeeded."));
}

/* The same numbers for parts of the set, where something is known of its tasks. */
function slicesSection({ slices, legend }) {
  const named = { difficulty: "difficulty", level: "level", type: "type of task", setting: "setting", role: "role", steps: "steps", width: "calls of the widest step", unneeded_tools: "tools nobody needs", things_seen: "things in the pictures", rounds: "rounds of work on a file" };
  const cuts = Object.keys(named).filter((cut) => slices && Object.keys(slices[cut] || {}).some((name) => name !== "unknown"));
  if (!cuts.length) return null;
  return section("slices", "Difficulty, roles and measures", "levels and types as in MCPVerse; one server or several as in MCP-Bench; roles as in TOBench",
    ...cuts.map((cut) => heatTable(`Mean of each metric by ${named[cut]}`, slices[cut], metricColumns(legend), named[cut])));
}

/* What was got wrong about pictures, and how well each skill of the eyes was done. */
function perceptionSection({ perception }) {
  if (!perception) return null;
  const wrong = Object.entries(perception.classes).map(([name, runs]) => h("li", {}, h("span", { class: "number", "data-value": "perception." + name }, grouped(runs)), badge("missed", name)));
  const told = Object.values(perception.classes).reduce((sum, runs) => sum + runs, 0);
  const rest = perception.failed - told;
  const other = rest > 0 ? h("li", {}, h("span", { class: "number" }, grouped(rest)), h("span", { class: "soft small" }, "went wrong elsewhere, or the record does not tell")) : null;
  const rows = Object.entries(perception.skills).map(([skill, { right, wrong: missed, not_told: silent }]) => [words(skill),
    right + missed ? h("span", { class: "drawing" }, bar({ value: right / (right + missed), label: `${percent(right / (right + missed), 0)} right`, tone: "strong" })) : "",
    right + missed ? percent(right / (right + missed), 0) : "–", grouped(right), grouped(missed), grouped(silent)]);
  const columns = [{ label: "skill", head: true }, { label: "" }, { label: "right", right: true }, { label: "runs right", right: true }, { label: "wrong", right: true }, { label: "not told", right: true }];
  return section("perception", "What was seen", `${count(perception.runs, "run")} of tasks of which it is written down what is to be seen`,
    h("ul", { class: "outcomes" }, wrong, other), table({ columns, rows, stack: true, className: "small" }));
}

/* What failed runs did wrong, in TOBench's groups; a run may have several errors. */
function errorsSection({ errors }) {
  if (!errors.length) return null;
  const columns = [{ label: "error", head: true }, { label: "of" }, { label: "runs", right: true }, { label: "times", right: true }, { label: "meaning" }];
  const rows = errors.map((one) => [one.error, one.group, h("span", { "data-value": "errors." + one.error }, grouped(one.runs)), grouped(one.times), one.means]);
  return section("errors", "Errors of failed runs", "in the groups of TOBench; a run may have several", table({ columns, rows, stack: true, className: "small" }));
}

/* Tools that were wanted, how often each was answered, and what was called in its place. */
function toolsSection({ tools }) {
  const wanted = new Map();
  for (const one of tools) {
    const name = one.wanted === "(none)" ? null : one.wanted;
    if (name === null) continue;
    const line = wanted.get(name) || { name, calls: 0, answered: 0, other: [] };
    line.calls += one.calls;
    if (one.answered) line.answered += one.calls;
    if (!one.answered || one.called !== name) line.other.push(one);
    wanted.set(name, line);
  }
  const unwanted = tools.filter((one) => one.wanted === "(none)").sort((one, other) => other.calls - one.calls);
  if (!wanted.size && !unwanted.length) return null;
  const items = [...wanted.values()].sort((one, other) => one.answered / one.calls - other.answered / other.calls || other.calls - one.calls);
  const instead = (line) => line.other.sort((one, other) => other.calls - one.calls).slice(0, 4).map((one, at) => [at ? ", " : "", h("span", { class: one.answered ? "tone-weak" : "tone-missed" }, one.called === "(none)" ? "nothing" : said(one.called === line.name ? "itself, about something else" : one.called)), ` ${one.calls}`]);
  const columns = [
    { label: "wanted tool", head: true, by: (line) => line.name, cell: (line) => toolName(line.name) },
    { label: "wanted", right: true, by: (line) => line.calls, cell: (line) => grouped(line.calls) },
    { label: "answered", right: true, by: (line) => line.answered, cell: (line) => grouped(line.answered) },
    { label: "share", className: "cell", by: (line) => line.answered / line.calls, cell: (line) => heat(line.answered / line.calls, {}, line.calls) },
    { label: "called in its place", cell: instead },
  ];
  return section("tools", "Tools wanted and called", "weakest first", sortable({ columns, items, stack: true, className: "tools small", first: 12, label: "tools" }).node,
    unwanted.length ? disclosure("Called and not wanted", () => h("ul", { class: "noted small" }, unwanted.slice(0, 60).map((one) => h("li", {}, toolName(one.called), h("span", { class: "number soft" }, grouped(one.calls))))), { class: "small" }) : null);
}

/* How far people agree and how long they took, task by task: the slowest first. */
function peopleSection({ people }) {
  if (!people) return null;
  const minutes = (seconds) => fixed(seconds / 60, 1);
  const rows = [...people.tasks].sort((one, other) => other.seconds - one.seconds).map((one) => [said(one.task), String(one.people), one.solved === null ? "–" : percent(one.solved), minutes(one.seconds), one.quartiles ? one.quartiles.map(minutes).join("–") : "–"]);
  const columns = [{ label: "task", head: true }, { label: "people", right: true }, { label: "solved", right: true }, { label: "minutes (median)", right: true }, { label: "half of them", right: true }];
  return section("people", "People", "time at work, without breaks", facts([
    ["people", String(people.people)], ["solved", people.solved === null ? "–" : percent(people.solved) + (people.interval ? ` (${percent(people.interval[0])} to ${percent(people.interval[1])}, for other people and tasks)` : "")],
    ["agreement", people.agreement === null ? "nothing to agree about" : `Krippendorff’s α ${fixed(people.agreement, 2)}`], ["a task takes", `${minutes(people.seconds)} minutes (median)`],
  ]), disclosure("Task by task", () => table({ columns, rows, stack: true, className: "small" })));
}

function repeatsSection({ repeats }) {
  if (repeats.most < 2) return null;
  const rows = Object.keys(repeats.pass_at).map((k) => [k, ...[repeats.pass_at[k], repeats.pass_hat[k]].map((rate) => [heat(rate && rate.value), " ", h("span", { class: "number soft small" }, span(rate && rate.interval, 2))])]);
  return section("repeats", "Repeats", `the average varies by ${fixed(repeats.average_sd)} between attempts`,
    table({ caption: "Solved by at least one, and by all of k attempts", columns: [{ label: "k", head: true }, { label: "pass@k", className: "cell" }, { label: "pass^k", className: "cell" }], rows, className: "small" }));
}

function noted(id, title, items, data) {
  if (!items.length) return null;
  const byId = new Map(data.runs.map((run) => [run.run, run]));
  return section(id, title, "", h("ul", { class: "noted" }, items.filter((item) => byId.has(item.run)).map((item) => {
    const run = byId.get(item.run);
    return h("li", {}, h("a", { href: "#run-" + run.run }, said(run.task), run.repeat > 1 ? ` #${run.repeat}` : ""),
      h("span", { class: "number" }, fixed(run.metrics.average)), verdict(run.success), item.why ? h("span", { class: "soft small" }, said(item.why)) : null);
  })));
}

/* The page leads with its runs, and what follows is not far below. */
const RUNS_AT_FIRST = 25;

/* ---- the table of runs: filtered, sorted, two of them compared ---- */

const SORTS = {
  order: ["as played", () => 0],
  worst: ["weakest first", (one, other) => (one.metrics.average ?? -1) - (other.metrics.average ?? -1)],
  best: ["best first", (one, other) => (other.metrics.average ?? -1) - (one.metrics.average ?? -1)],
  calls: ["most calls first", (one, other) => other.calls - one.calls],
  slow: ["slowest first", (one, other) => other.seconds - one.seconds],
};

function runsSection(data) {
  const chosen = { failed: false, family: "", text: "", sort: "order" };
  const compared = [];
  const holder = h("div", { class: "runs" });
  const status = h("p", { class: "soft small", role: "status" });
  const panel = h("div", { class: "comparison", "aria-live": "polite" });
  const families = [...new Set(data.runs.map((run) => run.family))].sort();

  function pick(run, box) {
    const at = compared.indexOf(run);
    if (at >= 0) compared.splice(at, 1);
    else compared.push(run);
    if (compared.length > 2) {
      const dropped = compared.shift();
      const old = document.getElementById("pick-" + dropped.run);
      if (old) old.checked = false;
    }
    panel.replaceChildren(...comparison(compared, data.legend));
  }

  function draw() {
    const list = data.runs.filter((run) => (!chosen.failed || run.success === false)
      && (!chosen.family || run.family === chosen.family) && (!chosen.text || run.task.includes(chosen.text)));
    if (chosen.sort !== "order") list.sort(SORTS[chosen.sort][1]);
    status.textContent = `${grouped(list.length)} of ${count(data.runs.length, "run")}`;
    const body = h("tbody", {});
    const rest = more(body, list, RUNS_AT_FIRST, (run) => runRow(run, data, compared, pick), "runs");
    const heads = ["compare", "run", "average", "", "solved", "needed", "made", "steps", "failed", "time"];
    holder.replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" },
      h("table", { class: "runlist" }, h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: at > 4 || at === 2 ? "right" : null }, at === 0 ? h("span", { class: "visually-hidden" }, head) : head)))), body)), rest);
  }

  const failed = h("button", { type: "button", class: "button", id: "failed-only", "aria-pressed": "false", click: () => {
    chosen.failed = !chosen.failed;
    failed.setAttribute("aria-pressed", String(chosen.failed));
    draw();
  } }, "Not solved only");
  const family = h("select", { id: "by-family", "aria-label": "Family", change: () => { chosen.family = family.value; draw(); } },
    h("option", { value: "" }, "all families"), families.map((name) => h("option", { value: name }, words(name))));
  const sort = h("select", { id: "by-order", "aria-label": "Order", change: () => { chosen.sort = sort.value; draw(); } },
    Object.entries(SORTS).map(([name, [label]]) => h("option", { value: name }, label)));
  const text = h("input", { type: "search", id: "by-text", placeholder: "task", "aria-label": "Part of a task's name", input: () => { chosen.text = text.value.trim(); draw(); } });
  draw();
  openLinked(data, () => { chosen.failed = false; chosen.family = ""; chosen.text = ""; chosen.sort = "order"; draw(); });
  return section("runs", "Runs", "", h("div", { class: "filters" }, failed, family, sort, text, status), panel, holder);
}

function runRow(run, data, compared, pick) {
  const detail = h("tr", { class: "run-detail", hidden: true }, h("td", { colspan: "10" }, h("div", { class: "run-detail-body" })));
  const button = h("button", { type: "button", class: "open", "aria-expanded": "false", click: () => {
    detail.hidden = !detail.hidden;
    button.setAttribute("aria-expanded", String(!detail.hidden));
    const body = detail.querySelector(".run-detail-body");
    if (!body.hasChildNodes()) body.append(...runDetail(run, data));
  } }, said(run.task), run.repeat > 1 ? ` #${run.repeat}` : "");
  const box = h("input", { type: "checkbox", id: "pick-" + run.run, "aria-label": `Compare ${run.task}`, change: () => pick(run, box) });
  box.checked = compared.includes(run);
  const right = (content) => h("td", { class: "right number" }, content);
  return [h("tr", { id: "run-" + run.run, class: "row" },
    h("td", {}, box), h("th", { scope: "row" }, button, h("span", { class: "soft small" }, " ", words(run.family)), data.links && data.links.run[run.run] ? [" ", h("a", { class: "small card-link", href: data.links.run[run.run], "aria-label": `Card of ${run.task}` }, "card")] : null),
    right(fixed(run.metrics.average)), h("td", { class: "drawing" }, bar({ value: run.metrics.average, label: "average " + fixed(run.metrics.average) })),
    h("td", {}, verdict(run.success)), right(String(run.needed)), right(String(run.calls)), right(String(run.steps)), right(String(run.failed)), right(duration(run.seconds * 1e9))), detail];
}

/* Where the whole card of a run is: on its page, or what writes one. */
function runLinks(run, data) {
  const links = data.links || { run: {}, task: {} };
  if (links.run[run.run]) return h("p", { class: "small" }, h("a", { href: links.run[run.run] }, "Score card with every call"), links.task[run.task] ? [" · ", h("a", { href: links.task[run.task] }, "The task and every run of it")] : null);
  if (!data.folder) return null;
  return h("p", { class: "small soft" }, "Every call of this run: ", h("code", {}, `m3bench report ${run.run.slice(0, 12)} --data ${data.folder}`));
}

function runDetail(run, data) {
  return [
    runLinks(run, data),
    h("p", { class: "small" }, h("b", {}, run.class), run.success === false ? h("span", { class: "soft" }, " " + ((data.failures.find((one) => one.class === run.class) || {}).means || "")) : null),
    run.improvements.length ? [h("h3", {}, "What would have helped most"), h("ul", { class: "improvement-list" }, run.improvements.map((one) => h("li", {}, h("span", { class: "number" }, signed(one.gain)), h("span", {}, said(one.text)))))] : null,
    run.failed_checks.length ? [h("h3", {}, `Checks: ${run.checks[0]} of ${run.checks[1]} passed`), h("ul", { class: "checks" }, run.failed_checks.map((check) => h("li", {}, mark("missed"), h("span", {}, said(check)))))] : null,
  ].flat().filter(Boolean);
}

function comparison(runs, legend) {
  if (!runs.length) return [];
  if (runs.length === 1) return [h("p", { class: "soft small" }, "Choose a second run to compare ", said(runs[0].task), " with.")];
  const [one, other] = runs;
  const name = (run) => [said(run.task), run.repeat > 1 ? ` #${run.repeat}` : ""];
  const line = (label, key, value) => {
    const [first, second] = [value(one), value(other)];
    return [label, fixed(first), fixed(second), h("span", { "data-value": "difference." + key }, first === null || second === null ? "–" : signed(second - first))];
  };
  return [table({
    caption: "Two runs, second minus first", className: "small",
    columns: [{ label: "metric", head: true }, { label: name(one), right: true }, { label: name(other), right: true }, { label: "difference", right: true }],
    rows: [line("average", "average", (run) => run.metrics.average), line("paper's metric", "paper", (run) => run.paper), ...legend.map((metric) => line(metric.label, metric.name, (run) => run.metrics[metric.name])),
      ["calls", String(one.calls), String(other.calls), signed(other.calls - one.calls, 0)]],
  })];
}

/* A link to a run opens it, wherever it stands in the list. */
function openLinked(data, clear) {
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!id.startsWith("run-") || !data.runs.some((run) => "run-" + run.run === id)) return;
    if (!document.getElementById(id)) clear();
    while (!document.getElementById(id)) {
      const button = document.querySelector("#runs .more:not([hidden]) button");
      if (!button) return;
      button.click();
    }
    const row = document.getElementById(id);
    const button = row.querySelector(".open");
    if (button.getAttribute("aria-expanded") === "false") button.click();
    row.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  queueMicrotask(open);
}
