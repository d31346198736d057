/* The page of one run. */

pages.run = (data, root) => {
  const { run, task, card } = data;
  const main = frame(root, `run ${run.id.slice(0, 12)}`, [`Run ${run.id}`, run.seal ? `, sealed ${run.seal.slice(0, 16)}…` : ", not sealed", ". Written by m3bench; nothing on this page is loaded from anywhere."], data.links, runPath(data));
  const selection = makeSelection();
  if (card) selection.matches = card.alignment.matches;
  main.append(opening(data), ...[
    card ? checksSection(card) : null,
    card ? improvementsSection(card, selection, 3) : null,
    card ? metricsSection(card, data.legend) : null,
    card ? alignmentSection(card, selection) : null,
    callsSection(data, selection),
    card ? outcomesSection(card) : null,
    card ? conductSection(card) : null,
    othersSection(data),
    manifestSection(data),
    nearby(data.links, "run"),
  ].filter(Boolean));
};

/* From the home of a site to this run: by its set where it is of one. */
function runPath({ links, run }) {
  if (!links) return null;
  const set = links.of && links.set[links.of];
  return [["Home", links.home], ...(set ? [["Board", links.board], [links.of, set]] : []), [run.task]];
}

/* The same task by others, each beside this run. */
function othersSection({ links, run }) {
  const task = links && links.task && links.task[run.task];
  if (!task) return null;
  return section("others", "The same task", "", h("p", {}, h("a", { href: task }, "Picture, question and every run of this task")),
    links.others && links.others.length ? h("ul", { class: "noted" }, links.others.slice(0, 50).map((one) => h("li", {}, linked(links.run[one.run], said(one.set), one.repeat > 1 ? ` #${one.repeat}` : ""),
      h("span", { class: "number" }, fixed(one.average)), verdict(one.success), h("a", { class: "small", href: `${task}#compare=${run.id},${one.run}` }, "side by side")))) : null);
}

function opening({ run, task, card, calls, answer, client_can: clientCan }) {
  const about = [task && task.family, task && task.difficulty, run.mode === "ranked" ? "ranked" : null].filter(Boolean).join(" · ");
  const summary = facts([
    ["client", (card && card.client && card.client.name) || run.client],
    ["calls", String(calls.length)],
    ["time", run.seconds === null ? null : duration(run.seconds * 1e9)],
    ["started", run.started.slice(0, 19).replace("T", " ") + " UTC"],
  ]);
  const state = card ? headline(card) : h("p", {}, badge("plain", run.state), h("span", { class: "soft" }, " There is no score card for this run."));
  return h("div", { class: "opening" },
    h("div", { class: "title" }, h("h1", {}, said(run.task)), about ? h("p", { class: "soft" }, about) : null),
    h("div", { class: "score" }, state, summary, clientCan ? h("p", { class: "small soft client" }, said(clientCan)) : null),
    pictures(task),
    h("div", { class: "texts" },
      task ? [h("h3", {}, "Question"), h("p", { class: "question", dir: "auto" }, task.question)]
        : h("p", { class: "soft" }, "The task is not at hand: give --tasks the folder of its set to see question and picture."),
      h("h3", {}, "Answer"),
      answer ? [h("p", { class: "answer", dir: "auto" }, clip(answer.text, 1200)),
        answer.size > 1200 ? disclosure("the whole answer", () => excerpt(answer), { class: "small" }) : null]
        : h("p", { class: "soft" }, "None was submitted.")));
}

function pictures(task) {
  if (!task || !task.pictures.length) return null;
  return h("div", { class: "pictures" }, task.pictures.map((picture) => picture.url
    ? h("img", { src: picture.url, alt: "The picture of the task: " + picture.name })
    : h("p", { class: "soft small" }, `${picture.name} (${grouped(picture.bytes)} bytes) is too large for this page.`)));
}

function manifestSection({ manifest, run }) {
  const rows = Object.entries(manifest).map(([name, value]) => [words(name), h("code", {}, said(brief(value, 300)))]);
  rows.push(["protocol revision", h("code", {}, said(run.revision))], ["seal", h("code", {}, said(run.seal || "none"))]);
  return section("manifest", "Manifest", "what makes two runs comparable",
    disclosure("Versions and hashes", () => scrolled("Versions and hashes", table({ columns: [{ label: "what", head: true }, { label: "version" }], rows, className: "small" }))));
}
