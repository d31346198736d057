/* The list of tasks: searched, filtered and sorted. */

const TASK_SORTS = {
  order: ["by name", () => 0],
  hard: ["least solved first", (one, other) => share(one) - share(other) || (one.average ?? 0) - (other.average ?? 0)],
  easy: ["most solved first", (one, other) => share(other) - share(one) || (other.average ?? 0) - (one.average ?? 0)],
};

function share(task) {
  return task.checked ? task.solved / task.checked : -1;
}

pages.tasks = (data, root) => {
  const main = frame(root, "tasks", ["Written by m3bench; nothing on this page is loaded from anywhere."], data.links, [["Home", data.links.home], ["Tasks"]]);
  const chosen = { text: "", family: "", difficulty: "", sort: "order" };
  const holder = h("div", {});
  const status = h("p", { class: "soft small", role: "status" });
  const values = (name) => [...new Set(data.tasks.map((task) => task[name]).filter(Boolean))].sort();
  function draw() {
    const wanted = chosen.text.toLowerCase();
    const list = data.tasks.filter((task) => (!chosen.family || task.family === chosen.family) && (!chosen.difficulty || task.difficulty === chosen.difficulty)
      && (!wanted || `${task.id} ${words(task.family)} ${task.question}`.toLowerCase().includes(wanted)));
    if (chosen.sort !== "order") list.sort(TASK_SORTS[chosen.sort][1]);
    status.textContent = `${grouped(list.length)} of ${count(data.tasks.length, "task")}`;
    const grid = h("ul", { class: "tasklist" });
    const rest = more(grid, list, 60, (task) => [taskPanel(task, data.links)], "tasks");
    holder.replaceChildren(grid, rest);
  }
  const choice = (name, label, every) => {
    const options = values(name);
    if (options.length < 2) return null;
    const select = h("select", { id: "by-" + name, "aria-label": label, change: () => { chosen[name] = select.value; draw(); } },
      h("option", { value: "" }, every), options.map((value) => h("option", { value }, words(value))));
    return select;
  };
  const sort = h("select", { id: "by-order", "aria-label": "Order", change: () => { chosen.sort = sort.value; draw(); } }, Object.entries(TASK_SORTS).map(([name, [label]]) => h("option", { value: name }, label)));
  const text = h("input", { type: "search", id: "by-text", placeholder: "search", "aria-label": "Part of a task's name or question", input: () => { chosen.text = text.value.trim(); draw(); } });
  draw();
  main.append(h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Tasks"), h("p", { class: "soft" }, count(data.tasks.length, "task")))),
    h("div", { class: "filters" }, text, choice("family", "Family", "all families"), choice("difficulty", "Difficulty", "any difficulty"), sort, status), holder);
};

function taskPanel(task, links) {
  return h("li", {}, h("a", { class: "panel taskpanel", href: links.task[task.id] },
    task.picture ? h("img", { src: task.picture, alt: "", loading: "lazy" }) : h("span", { class: "nopicture soft small" }, "no picture at hand"),
    h("span", { class: "words" }, h("b", {}, said(task.id)), h("span", { class: "soft small" }, [words(task.family), task.difficulty].filter(Boolean).join(" · ")),
      task.question ? h("span", { class: "small question" }, said(task.question)) : null,
      h("span", { class: "small number" }, h("span", { "data-value": `${task.id}.solved` }, task.checked ? `${task.solved} of ${task.checked} solved` : "no checks"),
        h("span", { class: "soft" }, ` · average ${fixed(task.average)}, n ${task.runs}`)))));
}
