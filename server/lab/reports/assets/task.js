/* The page of a task: what was asked, how every run did, and two runs side by side. */

pages.task = (data, root) => {
  const { task, links } = data;
  const main = frame(root, `task ${task.id}`, ["Written by m3bench; nothing on this page is loaded from anywhere."], links, [["Home", links.home], ["Tasks", links.tasks], [task.id]]);
  main.append(...[
    taskOpening(data),
    taskRuns(data),
    answersSection(data),
    sideBySide(data),
    nearby(links, "task"),
  ].filter(Boolean));
};

function taskOpening({ task, summary }) {
  return h("div", { class: "opening" },
    h("div", { class: "title" }, h("h1", {}, said(task.id)), h("p", { class: "soft" }, [words(task.family || ""), task.difficulty].filter(Boolean).join(" · "))),
    h("div", { class: "score" }, h("p", { class: "average" }, h("span", { class: "figure", "data-value": "solved" }, summary.checked ? `${summary.solved} of ${summary.checked}` : "–"), h("span", { class: "soft small" }, "runs solved it")),
      facts([["average", h("span", { "data-value": "average" }, fixed(summary.average))], ["runs", grouped(summary.runs)], ["references", task.references ? String(task.references) : null]])),
    pictures(task.pictures ? task : null),
    h("div", { class: "texts" },
      task.question ? [h("h3", {}, "Question"), h("p", { class: "question", dir: "auto" }, task.question)] : h("p", { class: "soft" }, "The task is not at hand: give --tasks the folder of its set to see question and picture."),
      (task.fields || []).length ? [h("h3", {}, "To be handed in"), h("ul", { class: "asked small" }, task.fields.map((line) => h("li", { dir: "auto" }, marked(line))))] : null));
}

/* Text with code between backticks. */
function marked(text) {
  return String(text).split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

function runLabel(run, data) {
  const twice = run.repeat > 1 || data.runs.some((other) => other.set === run.set && other.run !== run.run);
  return run.set + (twice ? ` #${run.repeat}` : "");
}

function taskRuns(data) {
  const priced = data.runs.some((run) => run.cost !== null);
  const columns = [
    { label: "run", head: true, by: (run) => runLabel(run, data), cell: (run) => linked(data.links.run[run.run], said(runLabel(run, data))) },
    { label: "result", by: (run) => (run.success === null ? null : Number(run.success)), cell: (run) => [verdict(run.success), run.success === false ? h("span", { class: "soft small" }, " " + run.class) : null] },
    { label: "average", right: true, by: (run) => run.metrics.average ?? null, cell: (run) => h("span", { "data-value": `${run.run}.average` }, fixed(run.metrics.average ?? null)) },
    ...["recall", "precision"].filter((name) => data.legend.some((metric) => metric.name === name)).map((name) => ({ label: name, right: true, by: (run) => run.metrics[name] ?? null, cell: (run) => fixed(run.metrics[name] ?? null) })),
    { label: "calls", right: true, by: (run) => run.calls, cell: (run) => String(run.calls) + (run.failed ? `, ${run.failed} failed` : "") },
    { label: "steps", right: true, by: (run) => run.steps.length, cell: (run) => String(run.steps.length) },
    { label: "time", right: true, by: (run) => run.seconds, cell: (run) => duration(run.seconds * 1e9) },
    ...(priced ? [{ label: "cost", right: true, by: (run) => run.cost, cell: (run) => (run.cost === null ? "–" : "$ " + fixed(run.cost, 3)) }] : []),
  ];
  return section("runs", "Every run", count(data.runs.length, "run"), sortable({ columns, items: data.runs, stack: true, className: "taskruns", label: "runs" }).node);
}

/* Checks by runs: which field each of them had right. */
function answersSection(data) {
  const checks = [...new Set(data.runs.flatMap((run) => run.checks.map((check) => check.check)))];
  if (!checks.length) return null;
  const rows = checks.map((name) => [said(name), ...data.runs.map((run) => {
    const found = run.checks.find((check) => check.check === name);
    return found ? h("span", { title: found.reason || null }, markOf(found.passed)) : "–";
  })]);
  return section("answers", "What each run had right", "", scrolled("What each run had right", table({ className: "small matrix",
    columns: [{ label: "checked", head: true }, ...data.runs.map((run) => ({ label: linked(data.links.run[run.run], said(runLabel(run, data), 28)), className: "cell" }))], rows })));
}

function markOf(passed) {
  return h("span", { class: "mark " + (passed ? "strong" : "missed"), role: "img", "aria-label": passed ? "right" : "wrong" }, passed ? "✓" : "✗");
}

/* Two runs beside each other; the address names them, so that a comparison can be passed on. */
function sideBySide(data) {
  if (data.runs.length < 2) return null;
  const known = new Map(data.runs.map((run) => [run.run, run]));
  const holder = h("div", { class: "two", "aria-live": "polite" });
  const chosen = [data.runs[0].run, data.runs[1].run];
  const pick = (at) => h("select", { id: "side-" + at, "aria-label": at ? "Second run" : "First run", change: (event) => {
    chosen[at] = event.target.value;
    history.replaceState(null, "", `#compare=${chosen.join(",")}`);
    draw();
  } }, data.runs.map((run) => h("option", { value: run.run }, `${runLabel(run, data)} · ${fixed(run.metrics.average ?? null)}`)));
  const picks = [pick(0), pick(1)];
  function draw() {
    picks.forEach((select, at) => { select.value = chosen[at]; });
    const [one, other] = chosen.map((id) => known.get(id));
    holder.replaceChildren(...[[one, other], [other, one]].map(([run, beside]) => sideOf(run, beside, data)));
  }
  function follow() {
    const found = location.hash.match(/^#compare=([^,]+),([^,]+)$/);
    if (!found || !known.has(found[1]) || !known.has(found[2])) return;
    chosen.splice(0, 2, found[1], found[2]);
    draw();
    queueMicrotask(() => document.getElementById("compare").scrollIntoView());
  }
  draw();
  follow();
  addEventListener("hashchange", follow);
  return section("compare", "Two runs side by side", "the address of this page names the two that are chosen", h("div", { class: "filters" }, picks[0], h("span", { class: "soft" }, "and"), picks[1]), holder);
}

function sideOf(run, beside, data) {
  const same = new Set(beside.steps.flat().map((call) => call.tool + JSON.stringify(call.arguments)));
  const row = (call, kind) => h("li", { class: "step-call " + kind }, mark(kind), h("span", {}, toolName(call.tool),
    call.outcome && call.outcome !== "success" ? [" ", badge(outcomeTone(call.outcome), words(call.outcome))] : null,
    kind !== "missed" && same.has(call.tool + JSON.stringify(call.arguments)) ? h("span", { class: "soft small" }, " = in both") : null,
    h("span", { class: "arguments soft small" }, said(argumentLine(call.arguments, 220)))));
  return h("article", { class: "panel side-run" },
    h("h3", {}, linked(data.links.run[run.run], said(runLabel(run, data)))),
    h("p", {}, verdict(run.success), h("span", { class: "number" }, " average ", h("b", {}, fixed(run.metrics.average ?? null))), h("span", { class: "soft small" }, ` · ${count(run.calls, "call")} in ${count(run.steps.length, "step")} · ${duration(run.seconds * 1e9)}`)),
    h("h4", {}, "Handed in"), run.answer ? h("pre", { class: "text", tabindex: "0", dir: "auto" }, run.answer.text + (run.answer.cut ? "…" : "")) : h("p", { class: "soft small" }, "nothing"),
    h("h4", {}, "Calls"), run.steps.length ? h("ol", { class: "side-steps" }, run.steps.map((calls, at) => h("li", {}, h("b", { class: "small" }, "Step " + (at + 1)), h("ul", {}, calls.slice(0, 60).map((call) => row(call, call.mark)), calls.length > 60 ? h("li", { class: "soft small" }, `and ${calls.length - 60} more`) : null)))) : h("p", { class: "soft small" }, "none"),
    run.missed.length ? [h("h4", {}, "Wanted and not made"), h("ul", {}, run.missed.map((call) => row(call, "missed")))] : null);
}
