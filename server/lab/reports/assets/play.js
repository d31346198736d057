/* A person plays: an ordinary MCP client of the server that the page came from. Nothing is judged here. */

const KEPT = "m3bench-play";
const FOUND = 12;
const OWN_TOOLS = ["list_tasks", "start_task", "submit", "score"];

pages.play = async (data, root) => {
  const main = frame(root, "play", [`m3bench ${data.version}. This page asks the server that it came from and nobody else. What you call and hand in is recorded; the notebook is not.`]);
  const status = h("p", { class: "status", role: "status" });
  const viewer = makeViewer();
  const suggestions = h("datalist", { id: KNOWN });
  const stage = h("div", { class: "stage" });
  stage.addEventListener("focusin", (event) => {
    if (event.target.matches("input[data-field], textarea[data-field]")) game.field = event.target;
  });
  main.append(stage, status);
  root.append(viewer.node, suggestions);
  const say = (text, tone) => status.replaceChildren(text ? badge(tone || "plain", text) : "");
  const kept = recall();
  const mcp = makeMcp({ endpoint: data.endpoint, token: data.token, name: data.client, version: data.version, session: kept.session, lasting: Boolean(data.study) });
  const game = { data, mcp, main, stage, say, viewer, suggestions, kept, tools: [] };
  game.study = data.study ? makeStudy(game) : null;
  say("Connecting …");
  try {
    try {
      if (!mcp.session) await mcp.open();
      game.tools = await mcp.tools();
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      Object.assign(kept, { opened: null, turns: [] });
      await mcp.open();
      game.tools = await mcp.tools();
    }
  } catch (error) {
    say(error.message, "missed");
    return;
  }
  game.tools = game.tools.filter((tool) => !OWN_TOOLS.includes(tool.name));
  keep(game);
  say("");
  if (kept.opened && !(game.study && !data.study.agreed)) await playStage(game);
  else startStage(game);
};

/* What a reload must not lose, in this tab alone. Pictures are left out when there is too much of it. */
function recall() {
  const empty = { session: null, opened: null, turns: [], notes: "", handed: {}, answer: "", began: 0 };
  try {
    return { ...empty, ...JSON.parse(sessionStorage.getItem(KEPT) || "{}") };
  } catch (error) {
    return empty;
  }
}

function keep(game) {
  const whole = { ...game.kept, session: game.mcp.session };
  const light = (result) => ({ ...result, content: (result.content || []).map((block) => (block.data ? { type: "text", text: `(${block.type}, not kept when the page was loaded again)` } : block)) });
  const turns = () => whole.turns.map((turn) => ({ ...turn, calls: turn.calls.map((call) => (call.result ? { ...call, result: light(call.result) } : call)) }));
  for (const make of [() => whole, () => ({ ...whole, turns: turns() }), () => ({ ...whole, turns: [] }), () => ({ session: whole.session })]) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(make()));
      return;
    } catch (error) {
      continue;
    }
  }
}

/* ---- before a task ---- */

function startStage(game) {
  const { data } = game;
  if (game.study) {
    game.study.start();
    return;
  }
  const wanted = h("input", { type: "text", id: "wanted", list: "tasks", autocomplete: "off", spellcheck: "false", placeholder: "the next one" });
  const begins = h("button", { type: "button", class: "button main", id: "begin", click: () => begin(data.task || wanted.value.trim(), false) }, data.task ? ["Begin ", said(data.task)] : "Begin a task");
  const begin = (name, abandon) => startTask(game, name, abandon, begins);
  wanted.addEventListener("keydown", (event) => { if (event.key === "Enter") begins.click(); });
  game.main.classList.remove("playing");
  game.stage.replaceChildren(
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, "Play a task yourself"))),
    h("div", { class: "lead" },
      h("p", {}, "You get a question about a picture or recording, and the tools that models get. Look, find the tools that help, fill in their forms, read what they answer, and hand in the fields that are asked for. Then you see your score card."),
      h("ul", { class: "advice" },
        h("li", {}, "Calls that do not depend on each other belong into one turn: a turn is one step."),
        h("li", {}, "Calls that are not needed, or about another thing, cost points. Thinking is free: the time is recorded, and is no part of the score."),
        h("li", {}, `A run may make ${count(data.limits.calls, "call")} in ${count(data.limits.minutes, "minute")}. It can be handed in once.`))),
    ...(data.task ? [] : [h("div", { class: "field" }, h("label", { for: "wanted" }, "Task or family"), wanted, h("datalist", { id: "tasks" }, data.tasks.map((name) => h("option", { value: name }))))]),
    h("p", { class: "acts" }, begins));
  (data.task ? begins : wanted).focus();
}

async function startTask(game, name, abandon, button) {
  const isTask = game.data.task || game.data.tasks.includes(name) || /-\d+$/.test(name);
  const args = { ...(name ? { [isTask ? "task_id" : "family"]: name } : {}), ...(abandon ? { abandon: true } : {}) };
  button.disabled = true;
  game.say("The task is being laid out …");
  try {
    const opened = await game.mcp.call("start_task", args);
    if (opened.isError) throw new Refused(texts(opened));
    Object.assign(game.kept, { opened, turns: [], notes: "", handed: {}, answer: "", began: Date.now() });
    game.say("");
    keep(game);
    await playStage(game);
    game.stage.querySelector("h1").focus();
  } catch (error) {
    await failed(game, error);
  } finally {
    button.disabled = false;
  }
}

const texts = (result) => (result.content || []).filter((block) => block.type === "text").map((block) => block.text).join("\n");

/* Says what went wrong; where the session is over, so is the task. */
async function failed(game, error) {
  game.say(error.message, "missed");
  if (!(error instanceof SessionEnded)) return;
  Object.assign(game.kept, { opened: null, turns: [] });
  try {
    await game.mcp.open();
  } catch (again) {
    game.say(again.message, "missed");
    return;
  }
  keep(game);
  startStage(game);
}

/* ---- a task ---- */

async function playStage(game) {
  const facts = game.kept.opened._meta["m3bench/task"];
  const target = makeTarget(game);
  const seen = new Set();
  game.suggestions.replaceChildren();
  const known = (text) => {
    if (text.length > 80 || seen.has(text) || seen.size >= 300) return;
    seen.add(text);
    game.suggestions.append(h("option", { value: text }));
  };
  game.look = { values: makeValues(target.put, known), viewer: game.viewer, read: game.mcp.read };
  game.drafts = [];
  const results = resultsPart(game);
  const turn = turnPart(game, results);
  const parts = [["question", questionPart(game, facts)], ["tools", toolsPart(game, turn)], ["turn", turn.node], ["results", results.node], ["notes", notesPart(game)], ["hand-in", handInPart(game, facts)]];
  const used = h("span", { class: "soft number" });
  game.main.classList.add("playing");
  game.stage.replaceChildren(
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, game.study ? game.study.title() : said(facts.task)), h("span", { class: "acts" }, used, game.study ? game.study.pause() : null))),
    h("nav", { class: "jumps small", "aria-label": "Parts of this page" }, parts.map(([id, part]) => h("a", { href: "#" + id, click: (event) => {
      event.preventDefault();
      const heading = part.querySelector("input, textarea, select") && id !== "question" && id !== "results" ? part.querySelector("input, textarea, select") : part.querySelector("h2");
      heading.focus();
      part.scrollIntoView({ block: "start" });
    } }, part.querySelector("h2").textContent))),
    h("div", { class: "play" }, parts[0][1], h("div", { class: "work" }, parts.slice(1, 4).map(([, part]) => part)), parts.slice(4).map(([, part]) => part)));
  parts.forEach(([, part]) => { part.querySelector("h2").tabIndex = -1; });
  game.tell = () => {
    const left = game.study ? null : Math.max(0, game.data.limits.minutes - Math.floor((Date.now() - game.kept.began) / 60000));
    const calls = game.kept.turns.reduce((sum, one) => sum + one.calls.length, 0);
    used.textContent = `${count(calls, "call")} of ${grouped(game.data.limits.calls)}` + (left === null ? "" : ` · ${left} min left`);
  };
  game.tell();
  clearInterval(game.clock);
  game.clock = setInterval(game.tell, 10000);
  game.kept.turns.forEach((one) => results.add(one));
}

/* Where a value goes that is chosen: into the field that had the focus last. */
function makeTarget(game) {
  game.field = null;
  return { put(text) {
    const { field } = game;
    if (!field || !field.isConnected) {
      game.say("Go to a field first; a value that is chosen then goes there.", "weak");
      return;
    }
    const isNumber = field.getAttribute("inputmode") === "decimal" && /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text);
    const wanted = isNumber ? text.replaceAll(",", "") : text;
    if (field.tagName === "TEXTAREA" && field.value && field.dataset.lines) field.value += (field.value.endsWith("\n") ? "" : "\n") + wanted;
    else if (field.tagName === "TEXTAREA" && field.value) field.setRangeText(wanted, field.selectionStart, field.selectionEnd, "end");
    else field.value = wanted;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
    game.say(`Put into ${words(field.dataset.field)}: ${clip(text, 60)}`);
  } };
}

function questionPart(game, facts) {
  const { opened } = game.kept;
  const left = { buttons: 0 };
  const media = (opened.content || []).filter((block) => block.type !== "text");
  const shown = media.map((block) => blockNode(block, block.type === "image" ? "The picture of the task" : "The recording of the task", game.look, left));
  const paths = [...(facts.pictures || []), ...(facts.recordings || [])];
  const files = h("p", { class: "small" }, h("span", { class: "soft" }, "For the tools: "), paths.map((path) => [game.look.values.button(path, left), " "]));
  roving(files);
  const node = section("question", "Question", "", h("p", { class: "question-text", dir: "auto" }, facts.question), h("div", { class: "media" }, shown),
    paths.length ? files : null, disclosure("What a model is told", () => h("pre", { class: "text", tabindex: "0" }, texts(opened)), { class: "small" }));
  return node;
}

/* ---- tools, found by typing ---- */

function toolsPart(game, turn) {
  const input = h("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false", "aria-describedby": "find-hint" });
  const list = h("ul", { class: "tools" });
  const told = h("p", { class: "soft small", role: "status" });
  const tools = game.tools.map((tool) => ({ tool, name: tool.name.toLowerCase().replace(/[_-]+/g, " "), text: (tool.description || "").toLowerCase() }));
  function rank({ name, text }, asked) {
    let sum = 0;
    for (const word of asked) {
      if (name.includes(word)) sum += (" " + name).includes(" " + word) ? 4 : 3;
      else if (text.includes(word)) sum += 1;
      else return 0;
    }
    return sum + (name === asked.join(" ") ? 10 : 0);
  }
  function draw() {
    const asked = input.value.toLowerCase().split(/[\s_-]+/).filter(Boolean);
    const found = asked.length ? tools.map((one) => [rank(one, asked), one.tool]).filter(([sum]) => sum).sort((a, b) => b[0] - a[0]).map(([, tool]) => tool) : [];
    const servers = [...new Set(game.tools.map((tool) => tool.name.split("__")[0]))];
    told.textContent = !asked.length ? `${count(game.tools.length, "tool")} of ${count(servers.length, "server")}: ${servers.map(words).join(", ")}.`
      : found.length > FOUND ? `${found.length} tools found, the first ${FOUND} of them below; type more.` : `${count(found.length, "tool")} found.`;
    list.replaceChildren(...found.slice(0, FOUND).map((tool) => h("li", {}, h("button", { type: "button", class: "tool-choice smooth", click: () => turn.add(tool) }, h("b", {}, toolName(tool.name.replace("__", "/"))), h("span", { class: "soft small" }, said(firstSentence(tool.description || ""), 160))))));
  }
  const choices = () => [...list.querySelectorAll("button")];
  input.addEventListener("input", draw);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && choices()[0]) choices()[0].click();
    else if (event.key === "ArrowDown" && choices()[0]) choices()[0].focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("keydown", (event) => {
    const at = choices().indexOf(event.target);
    const next = { ArrowDown: choices()[at + 1], ArrowUp: choices()[at - 1] || input, Escape: input }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  draw();
  return section("tools", "Tools", "", h("label", { for: "find" }, "Find a tool"), input,
    h("p", { class: "soft small hint", id: "find-hint" }, "By name or by what it does: “price”, “scan barcode”. Enter takes the first, arrows choose another."), told, list);
}

function firstSentence(text) {
  const end = text.search(/[.:](\s|$)/);
  return end < 0 ? text : text.slice(0, end + 1).replace(/:$/, ".");
}

/* ---- the turn that is being made ---- */

function turnPart(game, results) {
  const list = h("div", { class: "drafts" });
  const none = h("p", { class: "soft" }, "Choose a tool, and its form appears here. Several calls can be sent together.");
  const sends = h("button", { type: "button", class: "button main", id: "send", click: send });
  const acts = h("p", { class: "acts" }, sends, h("span", { class: "soft small" }, "or Ctrl+Enter"));
  const node = section("turn", "This turn", "", none, list, acts);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  });
  let sending = false;
  function draw() {
    none.hidden = game.drafts.length > 0;
    acts.hidden = !game.drafts.length;
    sends.textContent = game.drafts.length > 1 ? `Send ${game.drafts.length} calls as one turn` : "Send the call";
  }
  function add(tool, values) {
    if (game.drafts.length >= TOGETHER) {
      game.say(`A turn takes ${TOGETHER} calls: send these first.`, "weak");
      return;
    }
    const form = objectControl(tool.inputSchema || {}, null);
    const removes = h("button", { type: "button", class: "button", click: () => {
      game.drafts.splice(game.drafts.indexOf(draft), 1);
      draft.node.remove();
      draw();
      document.getElementById("find").focus();
    } }, "Remove");
    const draft = { tool, form, node: h("fieldset", { class: "panel draft", "data-tool": tool.name }, h("legend", {}, toolName(tool.name.replace("__", "/"))),
      h("div", { class: "draft-head" }, h("p", { class: "small soft" }, said(tool.description || "", 1200)), removes), form.node) };
    if (values) form.set(values);
    game.drafts.push(draft);
    list.append(draft.node);
    draw();
    draft.node.scrollIntoView({ block: "nearest" });
    (form.first || sends).focus();
  }
  function collect() {
    const calls = [];
    let first = null;
    for (const draft of game.drafts) {
      try {
        calls.push({ tool: draft.tool.name, args: draft.form.read() || {} });
      } catch (error) {
        if (!(error instanceof FormProblem)) throw error;
        error.control.blame(error.message);
        first = first || error;
      }
    }
    if (!first) return calls;
    const closed = first.control.first.closest("details");
    if (closed) closed.open = true;
    first.control.first.focus();
    game.say(first.message, "missed");
    return null;
  }
  async function send() {
    const calls = sending || !game.drafts.length ? null : collect();
    if (!calls) return;
    sending = true;
    game.drafts = [];
    list.replaceChildren();
    draw();
    const turn = { number: game.kept.turns.length + 1, calls: calls.map((call) => ({ ...call, result: null, problem: null })) };
    game.kept.turns.push(turn);
    const drawn = results.add(turn);
    drawn.heading.focus();
    game.say(calls.length > 1 ? `${calls.length} calls are under way …` : "The call is under way …");
    const step = { "m3bench/step": turn.number, ...(calls.length > 1 ? { "m3bench/calls": calls.length } : {}) };
    let lost = null;
    await Promise.all(turn.calls.map(async (call, at) => {
      try {
        call.result = await game.mcp.call(call.tool, call.args, step, at);
      } catch (error) {
        call.problem = error.message;
        if (error instanceof SessionEnded) lost = error;
      }
      drawn.draw(call);
    }));
    sending = false;
    keep(game);
    game.tell();
    if (lost) {
      await failed(game, lost);
      return;
    }
    const bad = turn.calls.filter((call) => call.problem || call.result.isError).length;
    game.say(`Turn ${turn.number}: ${count(turn.calls.length, "answer")}` + (bad ? `, ${bad} of them an error` : ""), bad ? "missed" : "strong");
  }
  game.again = add;
  draw();
  return { node, add };
}

/* ---- what came back, the latest turn first ---- */

function resultsPart(game) {
  const list = h("ol", { class: "turns", reversed: true });
  const none = h("p", { class: "soft" }, "What the tools answer appears here, the latest turn first. Every value is a button: it goes into the field that you were in.");
  const node = section("results", "Answers", "", none, list);
  function add(turn) {
    none.hidden = true;
    const places = new Map();
    const heading = h("h3", { tabindex: "-1" }, `Turn ${turn.number}`);
    const draw = (call) => places.get(call).replaceChildren(...callNodes(game, call));
    list.prepend(h("li", { class: "panel", "data-turn": turn.number }, heading, turn.calls.map((call) => {
      places.set(call, h("div", { class: "answered", "data-call": call.tool }));
      draw(call);
      return places.get(call);
    })));
    return { heading, draw };
  }
  return { node, add };
}

function callNodes(game, call) {
  const tool = game.tools.find((one) => one.name === call.tool);
  const state = call.problem ? badge("missed", "✗ not sent") : !call.result ? badge("plain", "… under way") : call.result.isError ? badge("missed", "✗ error") : badge("strong", "✓ answered");
  const head = h("div", { class: "answered-head" }, h("h4", {}, toolName(call.tool.replace("__", "/"))), state,
    tool ? h("button", { type: "button", class: "button", click: () => game.again(tool, call.args), "aria-label": `Use again: ${words(call.tool)} with these arguments` }, "Use again") : null);
  const given = Object.keys(call.args).length ? h("p", { class: "soft small arguments" }, said(argumentLine(call.args, 400))) : null;
  const body = call.problem ? h("p", { class: "tone-missed" }, said(call.problem, 400)) : call.result ? resultNode(call.result, words(call.tool), game.look) : null;
  return [head, given, body].filter(Boolean);
}

/* ---- notebook and hand-in ---- */

function notesPart(game) {
  const notes = h("textarea", { rows: 4, id: "notebook", "data-field": "notebook", "data-lines": "yes", "aria-describedby": "notes-hint" });
  notes.value = game.kept.notes;
  notes.addEventListener("input", () => { game.kept.notes = notes.value; keep(game); });
  return section("notes", "Notebook", "", h("label", { for: "notebook" }, "For yourself"), notes, h("p", { class: "soft small hint", id: "notes-hint" }, "It stays in this tab; nobody is sent it."));
}

function handInPart(game, facts) {
  const asked = [...(facts.fields || []), ...(facts.pictures && facts.pictures.length ? [{ ...game.data.mark, type: "text" }] : [])];
  const controls = asked.map((field) => ({ name: field.name, control: answerControl(field) }));
  const answer = labelled("answer", lines(2), { required: true, hint: "A sentence or two that answer the question." });
  answer.first.value = game.kept.answer;
  controls.forEach(({ name, control }) => { if (game.kept.handed[name] !== undefined) control.set(game.kept.handed[name]); });
  const told = h("p", { class: "problem", role: "alert" });
  const hands = h("button", { type: "button", class: "button main", id: "hand-in-now", click: handIn }, game.study ? "Hand in" : "Hand in and see the score card");
  const gives = h("button", { type: "button", class: "button", click: () => startTask(game, game.data.task || "", true, gives) }, "Give up and begin another run");
  const node = section("hand-in", "Hand in", "", controls.map(({ control }) => control.node), answer.node, told, h("p", { class: "acts" }, hands, h("span", { class: "soft small" }, "Once; after that nothing can be changed.")), game.study ? h("p", { class: "soft small" }, "If you cannot solve it, say so in the answer and hand in what you have.") : disclosure("Give up", () => h("p", { class: "acts" }, gives), { class: "small" }));
  node.addEventListener("input", () => {
    game.kept.answer = answer.first.value;
    try {
      game.kept.handed = fields();
    } catch (error) {
      return;
    }
    keep(game);
  });
  const fields = () => Object.fromEntries(controls.map(({ name, control }) => [name, control.read()]).filter(([, value]) => value !== undefined));
  async function handIn() {
    told.textContent = "";
    let given;
    try {
      if (!answer.first.value.trim()) throw new FormProblem(answer, "The answer is needed.");
      given = fields();
    } catch (error) {
      if (!(error instanceof FormProblem)) throw error;
      error.control.blame(error.message);
      error.control.first.focus();
      return;
    }
    hands.disabled = true;
    game.say("Your answer is being handed in …");
    try {
      const result = await game.mcp.call("submit", { answer: answer.first.value, ...(controls.length ? { fields: given } : {}) });
      if (result.isError && !(game.study && await game.study.wasHandedIn())) {
        told.textContent = texts(result);
        game.say("Nothing was handed in yet.", "weak");
      } else if (game.study) await game.study.handedIn();
      else await cardStage(game);
    } catch (error) {
      await failed(game, error);
    } finally {
      hands.disabled = false;
    }
  }
  return node;
}

/* ---- the score card ---- */

async function cardStage(game) {
  game.say("The run is being scored …");
  Object.assign(game.kept, { opened: null, turns: [] });
  clearInterval(game.clock);
  keep(game);
  const scored = await game.mcp.call("score", {});
  const meta = scored._meta || {};
  const card = meta["m3bench/card"];
  const run = meta["m3bench/run"];
  const place = h("div", { class: "card-place" });
  const another = h("button", { type: "button", class: "button main", id: "another", click: () => startStage(game) }, "Play on");
  game.main.classList.remove("playing");
  const title = h("h1", { tabindex: "-1" }, "Your score card");
  game.stage.replaceChildren(h("div", { class: "opening plain" }, h("div", { class: "title" }, title)),
    run ? h("p", {}, "The run is on record: ", h("code", {}, `m3bench runs show ${run.slice(0, 8)}`), " shows it again, and it is exported and compared like any other.") : null, h("p", { class: "acts" }, another), place);
  const draw = (shown) => {
    drawScorecard(card, shown, game.data.legend, place);
    const inner = place.querySelector("main");
    const drawn = h("div", { class: inner.className });
    drawn.append(...inner.childNodes);
    drawn.querySelectorAll("h1").forEach((old) => old.replaceWith(h("h2", { class: "card-name" }, ...old.childNodes)));
    place.replaceChildren(drawn);
  };
  if (!card || !card.metrics) place.append(h("pre", { class: "text", tabindex: "0" }, texts(scored)));
  else {
    draw(meta["m3bench/shown"] || {});
    try {
      const { contents } = await game.mcp.read(game.data.view.replace("{run}", run));
      draw(JSON.parse(contents[0].text));
    } catch (error) {
      // The answer of score holds the card itself; the pictures and calls beside it are an extra.
      game.say("The calls of the run could not be read.", "weak");
      title.focus();
      return;
    }
  }
  game.say("");
  title.focus();
}
