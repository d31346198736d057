/* The live view: begins with the state in the page and goes on with the events of the server it came from. */

const LIVE_CALLS = 100;
const LIVE_RUNS = 60;
const FIRST_RUNS = 12;
const OWN = ["list_tasks", "start_task", "submit", "score"];

pages.live = (data, root) => {
  const main = frame(root, "live", [`m3bench ${data.version}. This page asks the server it came from and nobody else. It can only be looked at.`], data.links);
  const board = makeBoard(data);
  const status = h("p", { class: "status", role: "status" });
  const parts = [seatsPart(board), callsPart(board), finishedPart(board), clientsPart(board)];
  main.append(
    h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", {}, "Live"), status)),
    ...(data.details ? [] : [h("p", { class: "warning", role: "note" }, "Ranked runs: only the operator sees arguments and scores, after starting the server with --operator-file.")]),
    ...parts.map((part) => part.node));

  let asked = false;
  const draw = () => { asked = false; parts.forEach((part) => part.draw()); };
  const redraw = () => {
    if (asked) return;
    asked = true;
    // A page that nobody looks at gets no frames; it may be late, but not behind.
    if (document.hidden) setTimeout(draw, 1000);
    else requestAnimationFrame(draw);
  };
  const say = (tone, text) => {
    if (status.dataset.text === text) return;
    status.dataset.text = text;
    status.replaceChildren(badge(tone, text));
  };

  const source = new EventSource("/live/events");
  source.addEventListener("open", () => say("strong", "● connected"));
  source.addEventListener("error", () => say("missed", source.readyState === 2 ? "✗ the server turned us away: load the page again" : "○ connection lost, trying again"));
  source.addEventListener("state", (event) => { board.adopt(JSON.parse(event.data)); redraw(); });
  source.addEventListener("news", (event) => { JSON.parse(event.data).forEach(board.apply); redraw(); });
  setInterval(() => parts.forEach((part) => part.tick && part.tick()), 1000);
  say("plain", "○ connecting");
  draw();
};

/* What is known, by name; news are put into it as `m3bench runs watch` does. */
function makeBoard(first) {
  const board = {
    adopt(state) {
      board.seats = state.seats;
      board.standings = state.standings;
      board.details = state.details;
      board.runs = new Map(state.runs.map((run) => [run.run, run]));
      board.calls = new Map(state.calls.map((call) => [call.call, call]));
    },
    apply(news) {
      if (news.type === "standings") board.standings = news.standings;
      else if (news.type === "run") {
        const had = news.state === "working" ? board.runs.get(news.run) : null;
        board.runs.set(news.run, had ? { ...news, calls: had.calls, failed: had.failed } : { ...news });
      }
      else if (news.type === "seats") {
        const known = new Map(board.seats.map((seat) => [seat.seat, seat.client]));
        board.seats = news.seats.map((seat) => ({ ...seat, client: seat.client || known.get(seat.seat) || "" }));
      } else if (news.type === "call") applyCall(board, news);
      trim(board.calls, LIVE_CALLS);
    },
  };
  board.adopt(first);
  return board;
}

function applyCall(board, news) {
  const before = board.calls.get(news.call);
  if (!before && !news.new) return;
  const call = { ...before, ...news };
  board.calls.set(news.call, call);
  const run = board.runs.get(call.run);
  if (run && run.state === "working" && !OWN.includes(call.tool)) {
    const failed = call.outcome !== null && call.outcome !== "success" && (!before || before.outcome === null);
    board.runs.set(call.run, { ...run, calls: run.calls + (before ? 0 : 1), failed: run.failed + (failed ? 1 : 0), client: run.client || call.client });
  }
  if (call.client) board.seats = board.seats.map((seat) => (seat.seat === call.seat && seat.client !== call.client ? { ...seat, client: call.client } : seat));
}

function trim(map, limit) {
  for (const name of map.keys()) {
    if (map.size <= limit) return;
    map.delete(name);
  }
}

/* Keeps the children of a parent in step with items: what did not change stays, focus and all. */
function keyed(parent, items, name, drawItem) {
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const wanted = items.map((item) => {
    const text = JSON.stringify(item);
    const had = old.get(String(name(item)));
    if (had && had.liveText === text) return had;
    const made = drawItem(item);
    made.dataset.key = name(item);
    made.liveText = text;
    if (had && had.contains(document.activeElement)) queueMicrotask(() => (made.querySelector("a, button") || made).focus());
    return made;
  });
  const kept = new Set(wanted);
  [...parent.children].forEach((node) => { if (!kept.has(node)) node.remove(); });
  wanted.forEach((node, index) => { if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] || null); });
}

/* "7 s", "3 min 20 s"; a browser whose clock is behind says 0 s. */
function lasted(from, to) {
  const seconds = Math.floor(((to ? new Date(to) : new Date()) - new Date(from)) / 1000);
  if (seconds < 60) return Math.max(0, seconds) + "\u00a0s";
  if (seconds < 3600) return `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s`;
  return `${Math.floor(seconds / 3600)}\u00a0h ${Math.floor((seconds % 3600) / 60)}\u00a0min`;
}

function clock(wall) {
  const moment = new Date(wall);
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/* ---- seats and what runs on them ---- */

function seatsPart(board) {
  const list = h("ul", { class: "seats" });
  const none = h("p", { class: "soft" }, "Nobody is here yet. Connect an MCP client to ", h("code", {}, location.origin + "/mcp"), ".");
  const node = section("seats", "Seats", "", none, list);
  const note = node.querySelector(".head").appendChild(h("span", { class: "note" }));
  function draw() {
    const seats = [...board.seats].sort((one, other) => (other.run ? 1 : 0) - (one.run ? 1 : 0));
    const busy = seats.filter((seat) => seat.run).length;
    none.hidden = seats.length > 0;
    note.textContent = seats.length ? `${count(seats.length, "seat")}, ${count(busy, "task")} under way` : "";
    const last = new Map([...board.calls.values()].map((call) => [call.seat, call]));
    keyed(list, seats.map((seat) => ({ ...seat, at: seat.run ? board.runs.get(seat.run) || null : null, last: last.get(seat.seat) || null })), (seat) => seat.seat, seatPanel);
    tick();
  }
  function tick() {
    list.querySelectorAll("[data-since]").forEach((one) => { one.textContent = lasted(one.dataset.since); });
  }
  return { node, draw, tick };
}

function seatPanel(seat) {
  const run = seat.at;
  return h("li", { class: "panel seat" + (seat.run ? " busy" : "") },
    h("p", { class: "seat-head" }, h("b", {}, said(run ? run.task : "no task")),
      run ? h("span", { class: "number", "data-since": run.started }) : null),
    h("p", { class: "soft small" }, said(seat.client || "a client"), " · ", said(seat.profile), h("span", { class: "mono seat-name" }, " seat " + seat.seat)),
    run ? h("p", { class: "small" }, h("span", { "data-value": `calls.${run.run}` }, count(run.calls, "call")), run.failed ? [", ", h("span", { class: "tone-missed" }, `${grouped(run.failed)} failed`)] : null) : null,
    seat.last ? h("p", { class: "small last" }, outcomeMark(seat.last), toolName(seat.last.tool)) : null);
}

function outcomeMark(call) {
  if (call.outcome === null) return h("span", { class: "mark pending", role: "img", "aria-label": "under way", title: "under way" }, "…");
  const tone = outcomeTone(call.outcome, call.owner);
  const sign = { strong: "✓", weak: "≈", missed: "✗", extra: "!" }[tone];
  return h("span", { class: "mark " + tone, role: "img", "aria-label": words(call.outcome), title: words(call.outcome) }, sign);
}

/* ---- calls as they happen ---- */

function callsPart(board) {
  const body = h("tbody", { role: "rowgroup" });
  const heads = [["at", "At"], ["", "Call"], ["", "Outcome"], ["right", "Took"], ["whose", "Task"]];
  const none = h("p", { class: "soft" }, "No call was made yet.");
  const rows = h("table", { class: "live-calls", role: "table" }, h("caption", { class: "visually-hidden" }, "The last calls, newest first"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, label]) => h("th", { role: "columnheader", scope: "col", class: name }, label)))), body);
  let held = null;
  const button = h("button", { class: "button screen-only", type: "button", "aria-pressed": "false", click: () => {
    held = held ? null : new Map(board.calls);
    button.setAttribute("aria-pressed", String(held !== null));
    draw();
  } }, "Hold");
  const node = section("live-calls", "Calls", "", none, h("div", { class: "feed", tabindex: "0", role: "region", "aria-label": "Calls" }, rows));
  const note = node.querySelector(".head").appendChild(h("span", { class: "note" }));
  node.querySelector(".head").append(button);
  function draw() {
    const calls = [...(held || board.calls).values()].reverse();
    none.hidden = calls.length > 0;
    rows.hidden = calls.length === 0;
    const newer = held ? [...board.calls.keys()].filter((name) => !held.has(name)).length : 0;
    button.textContent = held ? (newer ? `Continue (${newer}${newer >= LIVE_CALLS ? " or more" : ""} new)` : "Go on") : "Hold";
    note.textContent = held ? "held" : calls.length >= LIVE_CALLS ? `the last ${LIVE_CALLS}` : "";
    keyed(body, calls.map((call) => ({ ...call, task: (board.runs.get(call.run) || {}).task || "" })), (call) => call.call, liveCallRow);
  }
  return { node, draw };
}

function liveCallRow(call) {
  const tone = call.outcome === null ? "plain" : outcomeTone(call.outcome, call.owner);
  const blamed = call.owner && call.owner !== "agent" ? ` (${OWNERS[call.owner] || call.owner})` : "";
  return h("tr", { role: "row", "data-call": call.call, class: call.outcome === null ? "under-way" : "" },
    h("td", { role: "cell", class: "at number soft" }, clock(call.wall)),
    h("td", { role: "cell", class: "what" }, toolName(call.tool), call.arguments ? h("span", { class: "arguments soft small" }, said(call.arguments)) : null),
    h("td", { role: "cell", class: "outcome" }, badge(tone, (call.outcome === null ? "under way" : words(call.outcome)) + blamed)),
    h("td", { role: "cell", class: "right number" }, call.took_ns === null ? "–" : duration(call.took_ns)),
    h("td", { role: "cell", class: "whose small" }, said(call.task || "–"), h("span", { class: "soft mono" }, " " + call.seat)));
}

/* ---- finished runs ---- */

function finishedPart(board) {
  const list = h("ul", { class: "finished" });
  const none = h("p", { class: "soft" }, "No run has ended yet.");
  let all = false;
  const button = h("button", { class: "button screen-only", type: "button", click: () => { all = true; draw(); } });
  const node = section("finished", "Finished runs", "", none, list, h("p", { class: "more" }, button));
  const note = node.querySelector(".head").appendChild(h("span", { class: "note" }));
  function draw() {
    const ended = [...board.runs.values()].filter((run) => run.state !== "working")
      .sort((one, other) => (one.started < other.started ? 1 : one.started > other.started ? -1 : 0)).slice(0, LIVE_RUNS);
    none.hidden = ended.length > 0;
    note.textContent = ended.length >= LIVE_RUNS ? `the last ${LIVE_RUNS}` : ended.length ? count(ended.length, "run") : "";
    button.parentNode.hidden = all || ended.length <= FIRST_RUNS;
    button.textContent = `Show ${ended.length - FIRST_RUNS} more`;
    keyed(list, all ? ended : ended.slice(0, FIRST_RUNS), (run) => run.run, runPanel);
  }
  return { node, draw };
}

function runPanel(run) {
  const seen = ["scored", "submitted", "void"].includes(run.state) && !run.hidden;
  const contents = [
    h("span", { class: "run-head" }, h("b", {}, said(run.task)), run.average === null ? null : h("span", { class: "figure number", "data-value": `average.${run.run}` }, fixed(run.average))),
    run.average === null ? null : bar({ value: run.average, label: `average ${fixed(run.average)}` }),
    h("span", { class: "small" }, run.hidden ? badge("plain", "ranked, " + run.state) : run.state === "scored" ? verdict(run.success) : badge(run.state === "abandoned" ? "extra" : "plain", run.state), run.void ? h("span", { class: "soft" }, " " + said(run.void)) : null),
    h("span", { class: "soft small" }, said(run.client || "a client"), [count(run.calls, "call") + (run.failed ? `, ${grouped(run.failed)}\u00a0failed` : ""), run.ended ? lasted(run.started, run.ended) : null].filter(Boolean).map((part) => " · " + part)),
  ];
  return h("li", {}, seen ? h("a", { class: "panel run smooth", href: "/live/run/" + run.run, "data-run": run.run }, contents) : h("div", { class: "panel run", "data-run": run.run }, contents));
}

/* ---- clients ---- */

function clientsPart(board) {
  const holder = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Standings" });
  const none = h("p", { class: "soft" }, "No run was submitted yet.");
  const node = section("clients", "Standings", "by client over all runs of the data folder, like with like; m3bench leaderboard has intervals", none, holder);
  let shown = "";
  function draw() {
    const text = JSON.stringify(board.standings);
    none.hidden = board.standings.length > 0;
    if (text === shown) return;
    shown = text;
    const rows = board.standings.map((line, index) => {
      const number = (name, content) => h("span", { "data-value": `${name}.${index}` }, content);
      return [said(line.client || "a client"), said(line.profile), said(line.set), number("runs", grouped(line.runs)), number("average", fixed(line.average)),
        bar({ value: line.average, label: `average ${fixed(line.average)}` }), number("solved", line.checked ? `${line.solved} of ${line.checked}` : "–"), number("paper", fixed(line.paper))];
    });
    holder.replaceChildren(...(rows.length ? [table({ rows, className: "standings", columns: [
      { label: "client", head: true }, { label: "profile" }, { label: "tasks" }, { label: "runs", right: true }, { label: "average", right: true },
      { label: "average as a bar", hide: true, className: "drawing" }, { label: "solved", right: true }, { label: "paper's metric", right: true }] })] : []));
  }
  return { node, draw };
}
