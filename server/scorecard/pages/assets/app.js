/* The score card in a client's frame: asks for the answer of `score` by the handshake of MCP Apps, and draws it. */

pages.scorecard = (data, root) => {
  const host = window.parent;
  const waiting = h("main", { class: "sheet soft waiting" }, "The score card appears here when the run is scored.");
  root.append(waiting);
  if (host === window) return;

  const post = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const waits = new Map();
  let asked = 1, readable = false;
  const read = (uri, take) => {
    waits.set(++asked, take);
    post({ id: asked, method: "resources/read", params: { uri } });
  };
  const adopt = (context) => {
    if (context && (context.theme === "light" || context.theme === "dark")) document.documentElement.dataset.theme = context.theme;
  };
  const show = (result) => {
    const meta = (result && result._meta) || {};
    const card = result && (meta["m3bench/card"] || result.structuredContent);
    waits.clear();
    if (card && card.metrics) {
      drawScorecard(card, meta["m3bench/shown"] || {}, data.legend, root);
      const run = meta["m3bench/run"];
      if (readable && /^[0-9a-f]+$/.test(run)) read(data.view.replace("{run}", run), (whole) => drawScorecard(card, whole, data.legend, root));
    } else {
      const texts = ((result && result.content) || []).filter((block) => block.type === "text").map((block) => block.text);
      root.replaceChildren(h("main", { class: "sheet" }, h("p", { class: "plain-result", dir: "auto" }, clip(texts.join("\n"), 20000) || "There is no score card.")));
    }
  };
  /* What a page asked for; one that got nothing stays as it is. */
  const answered = ({ id, result }) => {
    const take = waits.get(id);
    waits.delete(id);
    const text = take && result && result.contents && result.contents[0] && result.contents[0].text;
    if (typeof text === "string") take(JSON.parse(text));
  };
  const notices = {
    "ui/notifications/tool-result": show,
    "ui/notifications/tool-cancelled": () => waiting.replaceChildren("The run was not scored: the call was cancelled."),
    "ui/notifications/host-context-changed": adopt,
  };

  window.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== host || !message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      if (message.id !== 1) answered(message);
      else if (message.result) {
        readable = Boolean((message.result.hostCapabilities || {}).serverResources);
        adopt(message.result.hostContext);
        post({ method: "ui/notifications/initialized", params: {} });
        new ResizeObserver(() => {
          const box = document.documentElement;
          post({ method: "ui/notifications/size-changed", params: { width: Math.ceil(box.scrollWidth), height: Math.ceil(root.getBoundingClientRect().height) } });
        }).observe(root);
      }
    } else if (message.id !== undefined) {
      const known = message.method === "ping" || message.method === "ui/resource-teardown";
      post(known ? { id: message.id, result: {} } : { id: message.id, error: { code: -32601, message: "Method not found" } });
    } else if (notices[message.method]) notices[message.method](message.params);
  });
  post({ id: 1, method: "ui/initialize", params: {
    protocolVersion: data.revision, appInfo: { name: "m3bench score card", version: "1" }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } } });
};

/* `shown` is what there is beside the card: at first question and calls in short, then the whole document of the run. */
function drawScorecard(card, shown, legend, root) {
  const selection = makeSelection();
  selection.matches = card.alignment.matches;
  const client = card.client && card.client.name;
  const task = shown.task || null;
  const question = task ? task.question : shown.question;
  root.replaceChildren(h("main", { class: "sheet app" },
    h("header", { class: "app-head" },
      h("div", {}, h("h1", {}, said(card.task, 120)), h("p", { class: "soft" }, [card.family, client].filter(Boolean).map((part) => clip(part, 80)).join(" · "))),
      headline(card)),
    question ? h("div", { class: "app-task" }, pictures(task),
      h("div", { class: "texts" }, h("h2", {}, "Question"), h("p", { dir: "auto" }, question),
        shown.answer ? [h("h2", {}, "Answer"), h("p", { class: "answer", dir: "auto" }, clip(shown.answer.text, 600))] : null)) : null,
    checksSection(card),
    improvementsSection(card, selection, 3),
    metricsSection(card, legend),
    alignmentSection(card, selection),
    shown.calls && shown.calls.length ? callsSection(shown, selection) : null,
    outcomesSection(card),
    conductSection(card)));
}
