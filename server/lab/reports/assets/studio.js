/* The studio: a task as its author has it, what is wrong with it, and what agents get. It follows the folder. */

const LOOK = 1500;

pages.studio = (data, root) => {
  const main = frame(root, "studio", [`m3bench ${data.version}. This page asks the server on this machine that it came from and nobody else. Nothing is written into your folder.`]);
  const viewer = makeViewer();
  const known = { task: new URLSearchParams(location.search).get("task"), drawn: "" };
  const choice = h("select", { id: "task" });
  const stage = h("div", { class: "stage" });
  const told = h("p", { class: "soft small", role: "status" });
  choice.addEventListener("change", () => { known.task = choice.value; look(); });
  main.append(h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Studio"), h("div", { class: "field" }, h("label", { for: "task" }, "Task"), choice))), told, stage);
  root.append(viewer.node);

  function draw(state) {
    const now = JSON.stringify(state);
    if (now === known.drawn) return;
    known.drawn = now;
    const ids = state.tasks.join("\n");
    if (choice.dataset.ids !== ids) {
      choice.dataset.ids = ids;
      choice.replaceChildren(...state.tasks.map((id) => h("option", { value: id }, said(id))));
    }
    if (state.task) choice.value = state.task.id;
    told.textContent = state.problem ? "" : state.task && state.task.busy ? "The reference is played, and agents try it …" : "Everything was tried. Save a file, and it is tried again.";
    stage.replaceChildren(...(state.problem ? [h("p", { class: "warning", role: "alert" }, said(state.problem, 600))] : state.task ? taskNodes(state.task) : [h("p", {}, "There is no task in this folder yet.")]));
  }

  function taskNodes(task) {
    return [wrongPart(task),
      h("div", { class: "studio" },
        h("div", {}, section("question", "Question", "", h("p", { class: "question-text", dir: "auto" }, said(task.question, 4000)),
          h("div", { class: "media" }, [...task.pictures, ...task.recordings].map((one) => fileNode(one.url, one.type, one.name, viewer)))),
        section("fields", "Fields", "what is asked, and what is right", task.fields.length ? table({ stack: true, className: "small",
          columns: [{ label: "field", head: true }, { label: "asked" }, { label: "right" }], rows: task.fields.map((field) => [said(field.name), said(field.meaning, 400), said(asJson(field.right), 400)]) }) : h("p", { class: "soft" }, "It has checks in place of fields."),
        h("p", { class: "small" }, h("span", { class: "soft" }, "Answer in words: "), said(task.answer, 1000)))),
        h("div", {}, task.references.map((steps, number) => referencePart(task, steps, number)))),
      agentsPart(task)];
  }

  function wrongPart(task) {
    const list = task.wrong.length ? h("ul", { class: "advice", "data-wrong": String(task.wrong.length) }, task.wrong.map((one) => h("li", { class: "tone-missed" }, said(one[0].toUpperCase() + one.slice(1), 400)))) : null;
    return section("wrong", "What is wrong", "", list || h("p", {}, task.busy ? "Nothing so far." : "Nothing that could be found."));
  }

  function referencePart(task, steps, number) {
    const played = task.played[number] || [];
    let at = 0;
    return section("reference-" + number, task.references.length > 1 ? `Reference ${number + 1}` : "Reference", count(steps.length, "step"), h("ol", { class: "turns" }, steps.map((step, place) => h("li", { class: "panel" }, h("h3", {}, `Step ${place + 1}`), step.map((call) => {
      const result = played[at++];
      return h("div", { class: "answered" }, h("div", { class: "answered-head" }, h("h4", {}, toolName(call.tool)), result ? badge(result.outcome === "success" ? "strong" : "missed", result.outcome === "success" ? "✓ answered" : "✗ " + words(result.outcome)) : badge("plain", "not played yet")),
        h("p", { class: "soft small arguments" }, said(argumentLine(call.arguments, 400))), result ? disclosure("Result", () => h("pre", { class: "text", tabindex: "0", dir: "auto" }, result.text), { class: "small" }) : null);
    })))));
  }

  function agentsPart(task) {
    return section("agents", "What others get", "who should not solve it", task.agents.length ? table({ stack: true, className: "small",
      columns: [{ label: "agent", head: true }, { label: "what it does" }, { label: "solved" }, { label: "average", right: true }],
      rows: task.agents.map((one) => [said(one.agent), said(one.does), one.solved === null ? h("span", { class: "soft" }, "could not play: ", said(one.why, 200)) : one.solved ? "yes" : "no", fixed(one.average)]) }) : h("p", { class: "soft" }, task.busy ? "They are at it …" : "They did not play."));
  }

  async function look() {
    try {
      const response = await fetch("/state" + (known.task ? "?task=" + encodeURIComponent(known.task) : ""), { cache: "no-store" });
      if (response.ok) draw(await response.json());
      else told.textContent = await response.text();
    } catch (error) {
      told.textContent = "The server does not answer: is m3bench tasks studio still running?";
    }
  }

  draw({ stamp: data.stamp, tasks: data.tasks, problem: data.problem, task: data.task });
  setInterval(look, LOOK);
};
