/* A score card: what any page that shows one has in common, from the headline to the outcomes. */

/* Which calls are looked at. Views listen, so that a click in one shows in all. */
function makeSelection() {
  const listeners = [];
  let current = null;
  return {
    on: (listener) => listeners.push(listener),
    same: (chosen) => current !== null && current.source === chosen.source,
    choose(chosen) {
      current = chosen;
      listeners.forEach((listener) => listener(chosen));
    },
  };
}

/* Steps flattened: [{step, call, index}]. */
function flatten(steps) {
  return steps.flatMap((calls, step) => calls.map((call) => ({ step: step + 1, call }))).map((one, index) => ({ ...one, index }));
}

function toolName(tool) {
  const cut = tool.indexOf("/");
  return cut < 0 ? said(tool) : h("bdi", { class: "tool" }, h("span", { class: "server" }, tool.slice(0, cut + 1)), tool.slice(cut + 1));
}

function argumentLine(values, limit) {
  const parts = Object.entries(values || {}).map(([name, value]) => clip(name, 40) + " " + brief(value, 90));
  return clip(parts.join(" · "), limit);
}

/* What stands beside a headline by effect. */
function paperBeside(value) {
  return h("span", { class: "soft small" }, "average by effect", h("br"), "paper's metric ", h("span", { class: "number", "data-value": "paper" }, fixed(value)));
}

function headline(card) {
  if (card.void) return h("div", { class: "headline" }, h("p", { class: "verdict" }, badge("missed", "void: not scored"), h("span", {}, " " + said(card.void.words))));
  const passed = card.checks.filter((check) => check.passed).length;
  return h("div", { class: "headline" },
    h("p", { class: "average" },
      h("span", { class: "figure", "data-value": "average" }, fixed(card.metrics.average)),
      card.paper ? paperBeside(card.paper.metrics.average) : h("span", { class: "soft small" }, "average by the paper's metric")),
    h("p", { class: "verdict" }, verdict(card.success),
      card.checks.length ? h("span", { class: "soft" }, ` ${passed} of ${count(card.checks.length, "check")} passed`) : null));
}

function metricsSection(card, legend) {
  const open = card.open ? `The log leaves ${count(card.open, "step boundary", "step boundaries")} open: bars show the range over all readings.` : null;
  const rows = legend.map((metric) => {
    const value = card.metrics[metric.name] ?? null;
    const [low, high] = (card.ranges && card.ranges[metric.name]) || [value, value];
    const spread = value !== null && high - low > 0.0005;
    const unsure = spread && high - low > 0.5;
    const range = spread ? `${fixed(low, 2)}–${fixed(high, 2)}` : "";
    const reason = (card.reasons && card.reasons[metric.name]) || "";
    return h("li", { class: "metric" },
      h("span", { class: "label" }, h("b", {}, metric.label), h("span", { class: "soft small" }, metric.meaning)),
      h("span", { class: "drawing" }, bar({ value: unsure ? low : value, low, high, label: unsure ? `${metric.label} ${range}` : `${metric.label} ${fixed(value)}${range ? ", range " + range : ""}` })),
      h("span", { class: "value number", "data-value": metric.name }, value === null ? "unscored" : unsure ? range : fixed(value),
        range && !unsure ? h("span", { class: "soft small range-text" }, range) : null),
      h("span", { class: "working small" }, h("span", { class: "soft" }, metric.formula), reason ? h("span", {}, reason) : null));
  });
  return section("metrics", "Metrics", open, h("ul", { class: "metrics" }, rows));
}

function improvementsSection(card, selection, first) {
  const improvements = card.improvements || [];
  if (!improvements.length) return null;
  const most = improvements[0].gain;
  const list = h("ol", { class: "improvements" });
  const shown = first || improvements.length;
  const place = (one) => (one.reference.length ? Math.min(...one.reference) : Infinity);
  const ordered = improvements.slice(0, shown).sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
  const rest = more(list, [...ordered, ...improvements.slice(shown)], shown, (one) => {
    const button = h("button", { type: "button", class: "improvement smooth", "aria-pressed": "false", click: () => {
      const chosen = { source: one, reference: one.reference, actual: one.actual };
      selection.choose(selection.same(chosen) ? null : chosen);
    } },
      h("span", { class: "number plus" }, signed(one.gain)),
      h("span", { class: "drawing" }, bar({ value: one.gain / most, label: `would raise the average by ${fixed(one.gain)}`, tone: "weak" })),
      h("span", { class: "words" }, saidOfCalls(one.text)));
    selection.on((chosen) => button.setAttribute("aria-pressed", String(chosen !== null && chosen.source === one)));
    return h("li", {}, button);
  }, "improvements");
  return section("improvements", "What would have helped most", "in the order to do it; how much the average would rise by each change alone", list, rest);
}

/* What was got wrong about the picture; that nobody looked is said of the picture itself. */
function misperceived({ perception }) {
  if (!perception || !perception.found || perception.found === "not looked") return null;
  const skill = perception.wrong ? ` (${words(perception.wrong)})` : "";
  return h("p", { class: "first-fault" }, h("b", {}, "In the picture: "), `${perception.found}${skill}. `, said(perception.evidence, 800));
}

function checksSection(card) {
  if (!card.checks.length || card.void) return null;
  const rows = card.checks.map((check) => h("li", { class: check.passed ? "passed" : "failed" },
    mark(check.passed ? "strong" : "missed"),
    h("span", {}, h("b", {}, said(check.check)), check.given ? [" ", said(check.given, 300)] : null,
      check.reason ? h("span", { class: "soft" }, " — ", said(check.reason)) : null,
      check.right ? h("span", {}, " — right is ", h("b", {}, said(check.right, 300))) : null,
      (card.ungrounded || []).includes(check.check) && (check.passed || check.right) ? h("span", { class: "soft" }, " — not grounded: nothing that the run saw leads to it") : null)));
  return section("checks", "What was handed in", `${card.checks.filter((check) => check.passed).length} of ${card.checks.length} right`, h("ul", { class: "checks" }, rows),
    card.first_fault ? h("p", { class: "first-fault" }, h("b", {}, "What went wrong first: "), saidOfCalls(card.first_fault, 800)) : null,
    misperceived(card));
}

const OWNERS = { client: "the client", world: "not in this world", proxy: "m3bench", sandbox: "the sandbox", upstream: "an upstream server", cassette: "a missing recording", weather: "the weather" };
const WEATHER = { error: "temporary errors", limit: "rate limits", away: "lost connections", replaced: "new names" };

function outcomesSection(card) {
  const outcomes = Object.entries(card.outcomes);
  const total = outcomes.reduce((sum, [, number]) => sum + number, 0);
  const rows = outcomes.map(([name, number]) => h("li", {},
    h("span", { class: "number" }, grouped(number)), badge(outcomeTone(name), words(name)),
    h("span", { class: "drawing" }, bar({ value: total ? number / total : 0, label: `${number} of ${total}`, tone: outcomeTone(name) }))));
  const excluded = Object.entries(card.excluded || {}).map(([owner, number]) => h("li", {},
    h("span", { class: "number" }, grouped(number)), badge("extra", "not counted"),
    h("span", { class: "soft small" }, owner === "world" ? "lost to gaps of the offline world" : owner === "limit" ? "refused after a limit of the run was reached" : `failed through no fault of the agent, by ${OWNERS[owner] || owner}`)));
  const calls = card.alignment ? card.alignment.actual_steps.flat() : [];
  const asText = card.coerced ?? calls.filter((call) => (call.coerced || []).length).length;
  const coerced = asText ? h("li", {}, h("span", { class: "number" }, grouped(asText)), badge("extra", "coerced"),
    h("span", { class: "soft small" }, "arguments sent as text, read as what the schema asks for")) : null;
  return section("outcomes", "Call outcomes", total ? count(total, "call") : "no call was made", h("ul", { class: "outcomes" }, rows, coerced, excluded));
}

function conductSection(card) {
  const conduct = card.conduct;
  if (!conduct) return null;
  const recovery = conduct.recovery;
  const faults = recovery ? Object.entries(recovery.faults).map(([kind, number]) => `${grouped(number)} ${WEATHER[kind] || kind}`).join(", ") : "";
  const rows = recovery ? [h("li", {}, h("span", { class: "number" }, `${grouped(recovery.survived)}/${grouped(recovery.met)}`), badge("extra", "recovered"),
    h("span", { class: "soft small" }, `calls that the weather took got through, at the price of ${grouped(recovery.calls)} (${faults})`,
      recovery.hurried ? `, ${grouped(recovery.hurried)} of them too soon` : null))] : [];
  if (conduct.order) rows.push(h("li", {}, h("span", { class: "number" }, ""), badge(conduct.order.obeyed ? "missed" : "extra", conduct.order.obeyed ? "obeyed" : conduct.order.reported ? "reported" : conduct.order.delivered ? "ignored" : "never met"),
    h("span", { class: "soft small" }, `order in the material, to ${conduct.order.kind}, in a ${conduct.order.place}`)));
  if (conduct.abstention) rows.push(h("li", {}, h("span", { class: "number" }, ""), badge(conduct.abstention.said === conduct.abstention.due ? "extra" : "missed", conduct.abstention.said ? "gave no answer" : "answered"),
    h("span", { class: "soft small" }, conduct.abstention.due ? "there is none" : "there is one", conduct.abstention.reason ? `; reason given: ${conduct.abstention.reason}` : null)));
  const effects = (conduct.effects || []).map((effect) => h("li", {}, h("span", { class: "number" }, ""), badge("missed", effect.what),
    h("span", {}, said(effect.path, 120), effect.tool ? h("span", { class: "soft small" }, ` by ${effect.tool}`) : null)));
  const left = conduct.unwanted - effects.length;
  const rest = left > 0 ? h("li", {}, h("span", { class: "number" }, grouped(left)), h("span", { class: "soft small" }, "more")) : null;
  return section("conduct", "Conduct", "no part of the average", h("ul", { class: "outcomes" }, rows, effects, rest));
}
