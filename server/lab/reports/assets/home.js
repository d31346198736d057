/* The first page of a site: what was measured, who is ahead, and where everything is. */

const HOME_ROWS = 10;

pages.home = (data, root) => {
  const main = frame(root, "", ["Written by m3bench; nothing on this site is loaded from anywhere else."], data.links);
  const samples = data.entries.reduce((sum, entry) => sum + entry.counts.scored, 0);
  main.append(...[
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Results")),
      h("p", { class: "lead" }, `How well ${count(data.entries.length, "agent")} used tools: `, h("b", {}, `${count(samples, "scored run")}`),
        data.tasks ? ` of ${count(data.tasks, "task")} from ${count(data.families, "family", "families")}` : "", ". Every call was recorded and compared with worked solutions; answers were checked field by field.")),
    mixedNote(data.mixed),
    section("leaders", data.mixed.length ? "Sets" : "Ahead", data.entries.length > HOME_ROWS ? `the first ${HOME_ROWS} of ${data.entries.length}` : "",
      h("ol", { class: "leaders" }, data.entries.slice(0, HOME_ROWS).map((entry) => leader(entry, data.links))),
      h("p", { class: "more" }, h("a", { href: data.links.board }, "The whole board: metrics, intervals, pairs, cost and time"))),
    section("where", "Where to look", "", h("ul", { class: "doors" }, [
      [data.links.board, "Board", "Every set beside every other, with ranks and what is certain."],
      [data.links.tasks, "Tasks", "Each task with its picture, and every run of it side by side."],
    ].filter(([address]) => address).map(([address, title, text]) => h("li", {}, h("a", { class: "panel door", href: address }, h("b", {}, title), h("span", { class: "soft small" }, text)))))),
    data.entries.length <= HOME_ROWS ? null : section("all-sets", "Every set", "", h("ul", { class: "noted" }, data.entries.map((entry) => h("li", {}, linked(data.links.set[entry.name], said(entry.name)), h("span", { class: "soft small" }, count(entry.counts.scored, "run")))))),
    downloads(data.downloads),
    section("manifest", "Manifest", "what makes two sets comparable", disclosure("Versions and hashes", () => manifestTable(data.manifest))),
  ].filter(Boolean));
};

function leader(entry, links) {
  const { success, success_interval: between, metrics } = entry.summary;
  const [low, high] = between || [success, success];
  return h("li", {},
    h("span", { class: "place number" }, entry.rank === null ? "–" : String(entry.rank)),
    h("span", { class: "who" }, linked(links.set[entry.name], said(entry.name)), h("span", { class: "soft small" }, " ", said([entry.kind, entry.solver, entry.verdict && entry.verdict.summary].filter(Boolean).join(" · ")))),
    h("span", { class: "drawing" }, bar({ value: success, low, high, label: `solved ${percent(success)}`, tone: entry.kind === "baseline" ? "extra" : "" })),
    h("span", { class: "number value" }, h("b", { "data-value": `${entry.name}.success` }, percent(success)), h("span", { class: "soft small" }, " solved, n " + grouped(entry.summary.checked))),
    h("span", { class: "number soft small" }, "average ", h("span", { "data-value": `${entry.name}.average` }, fixed(metrics.average))));
}
