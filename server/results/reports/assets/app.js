/* The score card in a client's frame: asks for the answer of `score` by the handshake of MCP Apps, and draws it. */

pages.scorecard = (data, root) => {
  const host = window.parent;
  const waiting = h("p", { class: "sheet soft waiting" }, "The score card appears here when the run is scored.");
  root.append(waiting);
  if (host === window) return;

  const post = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const adopt = (context) => {
    if (context && (context.theme === "light" || context.theme === "dark")) document.documentElement.dataset.theme = context.theme;
  };
  const show = (result) => {
    root.replaceChildren();
    const card = result && ((result._meta || {})["m3bench/card"] || result.structuredContent);
    if (card && card.metrics) drawScorecard(card, data.legend, root);
    else {
      const texts = ((result && result.content) || []).filter((block) => block.type === "text").map((block) => block.text);
      root.append(h("div", { class: "sheet" }, h("p", { class: "plain-result", dir: "auto" }, clip(texts.join("\n"), 20000) || "There is no score card.")));
    }
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
      if (message.id === 1 && message.result) {
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

function drawScorecard(card, legend, root) {
  const selection = makeSelection();
  selection.matches = card.alignment.matches;
  const client = card.client && card.client.name;
  root.append(h("div", { class: "sheet app" },
    h("header", { class: "app-head" },
      h("div", {}, h("h1", {}, said(card.task, 120)), h("p", { class: "soft" }, [card.family, client].filter(Boolean).map((part) => clip(part, 80)).join(" · "))),
      headline(card)),
    improvementsSection(card, selection, 3),
    metricsSection(card, legend),
    alignmentSection(card, selection),
    h("div", { class: "columns" }, checksSection(card), outcomesSection(card))));
}
