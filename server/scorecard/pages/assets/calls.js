/* The calls over time: a strip of the whole run, then a row for each call with what it said and got. */

const FIRST_ROWS = 100;
const STRIP_LABEL_GAP = 3;

/* Why a call is in the step of the one before it. */
const STAYS = {
  hint: "same step, the client says so",
  overlap: "same step, sent before an answer came",
  client: "same step, as this client sends calls in a row",
};

function callsSection(data, selection) {
  const calls = data.calls;
  if (!calls.length) return section("calls", "Calls over time", "no call was made");
  const end = Math.max(...calls.map((call) => call.returned_ns === null ? call.received_ns : call.returned_ns), 1);
  const steps = new Set(calls.map((call) => call.step).filter((step) => step !== null)).size;
  const body = h("tbody", { role: "rowgroup" });
  const rest = more(body, calls, FIRST_ROWS, (call) => callRow(call, end, selection), "calls");
  const heads = [["number", "#"], ["step-cell", "Step"], ["", "Call"], ["", "Outcome"], ["right", "At"], ["right", "Took"], ["when", "When"]];
  return section("calls", "Calls over time", `${count(calls.length, "call")} in ${count(steps, "step")} · ${duration(end)} from the first call to the last answer`,
    strip(calls, end),
    h("table", { class: "calls", role: "table" },
      h("caption", { class: "visually-hidden" }, "Calls in order of arrival"),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, label]) => h("th", { role: "columnheader", scope: "col", class: name }, label)))), body),
    rest);
}

function along(ns, end) {
  return (100 * ns) / end;
}

function stretch(call, end, least) {
  const from = along(call.received_ns, end);
  const to = along(call.returned_ns === null ? end : call.returned_ns, end);
  return { x: Math.min(from, 100 - least) + "%", width: Math.max(least, to - from) + "%" };
}

/* Steps as bands, calls as bars in as many lanes as ran at once. */
function strip(calls, end) {
  const lanes = [];
  const bars = calls.map((call) => {
    const until = call.returned_ns === null ? end : call.returned_ns;
    let lane = lanes.findIndex((busy) => busy <= call.received_ns);
    if (lane < 0 && lanes.length < 12) lane = lanes.push(0) - 1;
    if (lane < 0) lane = 11;
    lanes[lane] = until;
    return s("rect", { class: "tone-" + outcomeTone(call.outcome, call.owner), ...stretch(call, end, 0.4), y: 20 + lane * 9, height: 7, rx: 1.5 });
  });
  const height = 24 + lanes.length * 9;
  const bands = new Map();
  for (const call of calls) {
    if (call.step === null) continue;
    const until = call.returned_ns === null ? end : call.returned_ns;
    const band = bands.get(call.step) || { from: call.received_ns, to: until };
    bands.set(call.step, { from: Math.min(band.from, call.received_ns), to: Math.max(band.to, until) });
  }
  let labelled = -Infinity;
  const label = (at) => {
    if (at - labelled < STRIP_LABEL_GAP) return false;
    labelled = at;
    return true;
  };
  const drawn = [...bands].map(([step, band]) => [
    s("rect", { class: "band", x: along(band.from, end) + "%", width: Math.max(0.4, along(band.to - band.from, end)) + "%", y: 15, height: height - 15 }),
    label(along(band.from, end)) ? s("text", { x: Math.min(along(band.from, end), 98.5) + "%", y: 10 }, String(step)) : null,
  ]);
  return h("div", { class: "strip" }, s("svg", { role: "img", height, width: "100%", "aria-label": `${calls.length} calls in ${bands.size} steps over ${duration(end)}` }, drawn, bars),
    h("div", { class: "axis soft small" }, h("span", {}, "0"), h("span", {}, duration(end / 2)), h("span", {}, duration(end))));
}

function callRow(call, end, selection) {
  const tone = outcomeTone(call.outcome, call.owner);
  const blamed = call.owner && call.owner !== "agent" ? ` (${OWNERS[call.owner] || call.owner})` : "";
  const why = call.step === null ? "not counted" : ((call.begins ? BEGINS : STAYS)[call.evidence] || call.evidence) + (call.open ? ", open" : "");
  const row = h("tr", { role: "row", class: call.begins ? "begins" : "", "data-call": call.number },
    h("td", { role: "cell", class: "number soft" }, String(call.number)),
    h("td", { role: "cell", class: "step-cell" }, h("b", {}, call.step === null ? "–" : String(call.step)), h("span", { class: "soft small why" }, why)),
    h("td", { role: "cell", class: "what" },
      call.actual === null ? toolName(call.tool) : h("button", { type: "button", class: "pick", "aria-pressed": "false", click: () => {
        const chosen = { source: "call" + call.number, reference: [], actual: [call.actual] };
        selection.choose(selection.same(chosen) ? null : matched(chosen, selection));
      } }, toolName(call.tool)),
      call.arguments && disclosure(`arguments ${size(call.arguments)} · result ${size(call.result)} characters`, () => [
        h("h3", {}, "Arguments"), excerpt(call.arguments), h("h3", {}, "Result"), excerpt(call.result)].flat(), { class: "small" })),
    h("td", { role: "cell" }, badge(tone, words(call.outcome) + blamed)),
    h("td", { role: "cell", class: "right number" }, duration(call.received_ns)),
    h("td", { role: "cell", class: "right number" }, call.returned_ns === null ? "–" : duration(call.returned_ns - call.received_ns)),
    h("td", { role: "cell", class: "when" }, s("svg", { class: "span", width: "100%", height: 12, "aria-hidden": "true" },
      s("rect", { class: "rail", width: "100%", y: 5.5, height: 1 }), s("rect", { class: "tone-" + tone, ...stretch(call, end, 1.2), y: 2, height: 8, rx: 1.5 }))));
  selection.on((chosen) => {
    const on = chosen !== null && call.actual !== null && chosen.actual.includes(call.actual);
    row.classList.toggle("chosen", on);
    const button = row.querySelector(".pick");
    if (button) button.setAttribute("aria-pressed", String(on));
  });
  return row;
}

/* The reference call that the chosen one answers is chosen with it. */
function matched(chosen, selection) {
  const mine = (selection.matches || []).filter((one) => takes(one).includes(chosen.actual[0]));
  return mine.length ? { ...chosen, reference: mine.map((one) => one.reference) } : chosen;
}

function size(part) {
  return part.size < 1e6 ? grouped(part.size) : fixed(part.size / 1e6, 1) + " million";
}
