/* A study with people, around the tasks: what they agree to, their breaks and time at work, and things to label. */

const IDLE = 120000;
const BEAT = 20;

function makeStudy(game) {
  const { data } = game;
  const { study } = data;
  let active = game.kept.active || 0;
  let last = active;
  let at = Date.now();
  let resting = false;

  /* Time at work: the page is seen, nobody rests, and something was done with it a while ago at most. */
  const act = () => { at = Date.now(); };
  ["keydown", "pointerdown", "pointermove", "wheel", "input"].forEach((name) => addEventListener(name, act, { passive: true, capture: true }));
  setInterval(() => {
    if (!game.kept.run || resting || document.hidden || Date.now() - at > IDLE) return;
    active += 1;
    if (active % 5 === 0) store();
    if (active - last >= BEAT) beat();
  }, 1000);
  const store = () => { game.kept.active = active; keep(game); };
  const beat = () => {
    last = active;
    return tell({ run: game.kept.run, seconds: active }).catch(() => null);
  };

  async function tell(message) {
    const headers = { "content-type": "application/json", authorization: "Bearer " + data.token };
    const response = await fetch(data.notes, { method: "POST", headers, body: JSON.stringify(message), cache: "no-store", redirect: "error" })
      .catch(() => { throw new Unreachable("The server does not answer: try again in a minute; nothing is lost."); });
    if (!response.ok) throw new Refused((await response.text()).trim());
  }

  const heading = (text) => h("div", { class: "opening plain" }, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, text)));
  function show(...parts) {
    game.say("");
    game.main.classList.remove("playing");
    game.stage.replaceChildren(...parts.filter(Boolean));
    game.stage.querySelector("h1").focus();
  }

  /* ---- consent ---- */

  function consentStage() {
    const agrees = h("input", { type: "checkbox", id: "agrees" });
    const controls = study.ask.map((asked) => ({ name: asked.name, control: textControl(asked.question.length > 80 ? asked.name : asked.question, line({}), { required: asked.required, trims: true, hint: asked.question.length > 80 ? asked.question : "" }, (text) => text.trim(), String) }));
    const told = h("p", { class: "problem", role: "alert" });
    const begins = h("button", { type: "button", class: "button main", id: "agree", click: agree }, "Take part");
    async function agree() {
      told.textContent = "";
      try {
        const answers = Object.fromEntries(controls.map(({ name, control }) => [name, control.read()]).filter(([, value]) => value !== undefined));
        if (!agrees.checked) {
          told.textContent = "Tick the box first, if you agree. If you do not, close this page: nothing was kept.";
          agrees.focus();
          return;
        }
        begins.disabled = true;
        await tell({ agree: answers });
        study.agreed = true;
        start();
      } catch (error) {
        if (!(error instanceof FormProblem)) told.textContent = error.message;
        else {
          error.control.blame(error.message);
          error.control.first.focus();
        }
      } finally {
        begins.disabled = false;
      }
    }
    show(heading("Taking part"), h("p", { class: "consent", dir: "auto" }, study.consent.trim()),
      controls.length ? h("div", { class: "asked" }, controls.map(({ control }) => control.node)) : null,
      h("p", {}, h("label", { class: "agrees", for: "agrees" }, agrees, h("span", {}, "I have read this, and I agree."))), told, h("p", { class: "acts" }, begins));
  }

  /* ---- between tasks ---- */

  const usual = "You get a question about a picture or recording, and tools. Look, find the tools that help, fill in their forms, read what they answer, and hand in the fields that are asked for.\n\nCalls that do not depend on each other belong into one turn. Calls that are not needed cost points; time does not. Take a break whenever you like. Everything works with the keyboard alone.";
  const instructions = () => h("p", { class: "consent", dir: "auto" }, (study.instructions || usual).trim());

  function start() {
    if (!study.agreed) {
      consentStage();
      return;
    }
    if (study.done >= study.tasks) {
      labelStage();
      return;
    }
    const begins = h("button", { type: "button", class: "button main", id: "begin", click: () => begin(begins) }, study.done ? "Begin the next task" : "Begin the first task");
    show(heading(`Task ${study.done + 1} of ${study.tasks}`), study.done ? disclosure("What to do", instructions) : instructions(),
      h("p", { class: "soft" }, "You can close this page and come back with your link."), h("p", { class: "acts" }, begins));
    begins.focus();
  }

  async function begin(button) {
    await startTask(game, "", false, button);
    if (!game.kept.opened) return;
    const { run } = game.kept.opened._meta["m3bench/task"];
    if (run !== game.kept.run) {
      active = 0;
      last = 0;
    }
    game.kept.run = run;
    store();
  }

  async function handedIn() {
    if (active > last) await beat();
    clearInterval(game.clock);
    Object.assign(game.kept, { opened: null, turns: [], run: null, active: 0, notes: "" });
    keep(game);
    study.done += 1;
    start();
    game.say("Handed in.", "strong");
  }

  /* Whether the run is over, although the answer to handing in was lost: the server has another task then, or none. */
  async function wasHandedIn() {
    const next = await game.mcp.call("start_task", {});
    const { run } = (next._meta || {})["m3bench/task"] || {};
    return next.isError ? texts(next).startsWith("Every task was started") : run !== game.kept.run;
  }

  /* A break: nothing of the task is seen, and no time counts. */
  function pause() {
    const rests = h("button", { type: "button", class: "button", id: "pause", click: () => {
      resting = true;
      store();
      beat();
      const goes = h("button", { type: "button", class: "button main", id: "resume", click: () => {
        resting = false;
        act();
        rest.remove();
        game.stage.hidden = false;
        rests.focus();
      } }, "Go on");
      const rest = h("div", {}, heading("A break"), h("p", {}, "No time counts until you go on."), h("p", { class: "acts" }, goes));
      game.stage.hidden = true;
      game.main.prepend(rest);
      goes.focus();
    } }, "Take a break");
    return rests;
  }

  /* ---- labels ---- */

  function labelStage() {
    const thing = study.labels[0];
    if (!thing) {
      show(heading("Thank you"), h("p", {}, "That was everything. You can close this page."));
      return;
    }
    const same = thing.kind === "same";
    const told = h("p", { class: "problem", role: "alert" });
    const choose = async (says) => {
      try {
        await tell({ label: thing.id, says });
        study.labels.shift();
        labelStage();
      } catch (error) {
        told.textContent = error.message;
      }
    };
    const button = (label, says, key) => h("button", { type: "button", class: "button", "data-says": says, "aria-keyshortcuts": key, click: () => choose(says) }, label);
    const call = (name, one) => h("div", { class: "panel" }, h("h2", {}, name), h("p", {}, toolName(String(one.tool).replace("__", "/"))),
      h("dl", { class: "facts" }, Object.entries(one.arguments || {}).map(([key, value]) => [h("dt", {}, said(words(key), 80)), h("dd", {}, said(asJson(value), 400))])));
    const text = (name, shown) => h("div", { class: "panel" }, h("h2", {}, name), h("p", { class: "consent", dir: "auto" }, said(shown, 2000)));
    const buttons = h("p", { class: "acts" }, button(same ? "The same" : "Right", "yes", "y"), button(same ? "Not the same" : "Wrong", "no", "n"), button("Not sure", "unsure", "u"));
    show(heading(same ? "Do these calls ask for the same?" : "Is this answer right?"), h("p", { class: "soft" }, `${count(study.labels.length, "question")} to go. Keys: y, n, u.`),
      same ? h("div", { class: "both" }, call("One", thing.first), call("Another", thing.second))
        : h("div", { class: "both" }, text("Question", thing.question), text("What is right", thing.right), text("What was handed in", thing.answer)), buttons, told);
    game.stage.onkeydown = (event) => {
      const says = { y: "yes", n: "no", u: "unsure" }[event.key];
      if (!says || event.ctrlKey || event.altKey || event.metaKey || !game.stage.contains(buttons)) return;
      event.preventDefault();
      choose(says);
    };
  }

  return { start, pause, handedIn, wasHandedIn, title: () => `Task ${study.done + 1} of ${study.tasks}` };
}
