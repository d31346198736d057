/* Reference and actual calls side by side, by step, with a line for every match. */

const FIRST_CALLS = 120;
const UNFOLDED = 20;

function alignmentSection(card, selection) {
  const alignment = card.alignment;
  const references = flatten(alignment.reference_steps);
  const actuals = flatten(alignment.actual_steps);
  const ofReference = new Map(alignment.matches.map((match) => [match.reference, match]));
  const ofActual = new Map(alignment.matches.flatMap((match) => takes(match).map((place) => [place, match])));
  const instead = new Map((alignment.instead || []).map((one) => [one.reference, one]));
  const known = new Set(alignment.not_needed || []);
  const nodes = { reference: new Map(), actual: new Map() };
  const opened = h("div", { class: "detail" });

  function kindOf(side, index) {
    const match = (side === "reference" ? ofReference : ofActual).get(index);
    if (match) return full(match) ? "strong" : "weak";
    return side === "actual" ? "extra" : known.has(index) ? "known" : "missed";
  }

  function callNode(side, one) {
    const match = (side === "reference" ? ofReference : ofActual).get(one.index);
    const kind = kindOf(side, one.index);
    const failed = one.call.outcome && one.call.outcome !== "success" ? badge(outcomeTone(one.call.outcome), words(one.call.outcome)) : null;
    const other = match ? (side === "reference" ? actuals[match.actual] : references[match.reference]) : null;
    const near = side === "reference" && !match ? instead.get(one.index) : null;
    const note = near ? near.note : (match && match.note) || "";
    const button = h("button", { type: "button", class: "call smooth " + kind, "aria-pressed": "false", "data-side": side, "data-index": one.index,
      click: () => {
        const mine = side === "actual" ? alignment.matches.filter((other) => takes(other).includes(one.index)) : match ? [match] : [];
        const chosen = { source: side + one.index, reference: match ? mine.map((other) => other.reference) : side === "reference" ? [one.index] : [],
          actual: match ? [...new Set(mine.flatMap(takes))] : side === "actual" ? [one.index] : near ? [near.actual] : [], detail: { button, side, one, match, note, known: known.has(one.index) } };
        selection.choose(selection.same(chosen) ? null : chosen);
      } },
      mark(kind),
      h("span", { class: "what" }, toolName(one.call.tool), failed, h("span", { class: "arguments" }, said(argumentLine(one.call.arguments, 150))),
        other ? h("span", { class: "counterpart soft small" }, `${side === "reference" ? "done" : "asked for"} in step ${other.step}`) : null,
        note ? h("span", { class: "small reason" }, said(note, 200)) : null),
      h("span", { class: "number similarity" }, match ? fixed(match.similarity, 2) : MARKS[kind][1]));
    nodes[side].set(one.index, button);
    return button;
  }

  /* Of very many calls those that nothing asked for are folded away, so that every match is in sight. */
  function folded(side, flat) {
    if (side === "reference" || flat.length <= FIRST_CALLS) return flat;
    const kept = [];
    for (const one of flat) {
      if (ofActual.has(one.index) || one.index < UNFOLDED) kept.push(one);
      else if (kept.length && kept[kept.length - 1].fold) kept[kept.length - 1].fold.push(one);
      else kept.push({ fold: [one] });
    }
    return kept;
  }

  function column(side, title, flat) {
    const evidence = side === "actual" ? card.evidence : null;
    const list = h("div", { class: "list" });
    let drawn = null;
    const drawOne = (one) => {
      if (one.fold) return [disclosure(`${count(one.fold.length, "call")} that nothing asked for`, () => {
        const inner = h("div", { class: "list" });
        return [inner, more(inner, one.fold, FIRST_CALLS, drawOne, "calls")];
      }, { class: "fold small" })];
      const parts = [];
      if (one.step !== drawn) {
        drawn = one.step;
        const reason = evidence && evidence[one.step - 1];
        parts.push(h("p", { class: "step small" }, h("b", {}, "Step " + one.step), reason ? h("span", { class: "soft" }, " " + (BEGINS[reason] || reason)) : null));
      }
      return [...parts, callNode(side, one)];
    };
    const rest = more(list, folded(side, flat), FIRST_CALLS, drawOne, "calls");
    const nothing = flat.length ? null : h("p", { class: "soft" }, side === "actual" ? "No call was made." : "Nothing was to be done.");
    return h("div", { class: "side " + side }, h("h3", {}, title), list, nothing, rest);
  }

  const lines = s("svg", { class: "lines", "aria-hidden": "true" });
  const grid = h("div", { class: "alignment" },
    column("reference", "Reference", references), lines,
    column("actual", "What was done", actuals));

  function redraw() {
    const area = lines.getBoundingClientRect();
    lines.replaceChildren();
    if (!area.width) return;
    for (const [match, place] of alignment.matches.flatMap((one) => takes(one).map((at) => [one, at]))) {
      const left = nodes.reference.get(match.reference), right = nodes.actual.get(place);
      if (!left || !right) continue;
      const at = (node) => { const box = node.getBoundingClientRect(); return box.top + Math.min(box.height / 2, 22) - area.top; };
      const chosen = left.classList.contains("chosen");
      const path = `M0 ${at(left)} C${area.width / 2} ${at(left)} ${area.width / 2} ${at(right)} ${area.width} ${at(right)}`;
      lines.append(s("path", { d: path, class: (full(match) ? "strong" : "weak") + (chosen ? " chosen" : "") }));
    }
  }

  selection.on((chosen) => {
    for (const side of ["reference", "actual"]) {
      for (const [index, node] of nodes[side]) {
        const on = chosen !== null && chosen[side].includes(index);
        node.classList.toggle("chosen", on);
        node.setAttribute("aria-pressed", String(on));
      }
    }
    grid.classList.toggle("choosing", chosen !== null);
    opened.remove();
    if (chosen && chosen.detail) {
      opened.replaceChildren(...callDetail(chosen.detail, references, actuals));
      chosen.detail.button.after(opened);
    }
    redraw();
  });
  new ResizeObserver(redraw).observe(grid);

  const which = card.reference && card.reference.of > 1 ? `reference ${card.reference.index + 1} of ${card.reference.of} fits best` : null;
  const note = [`${alignment.matches.length} of ${references.length - known.size} answered`, `${alignment.missed.length} missed`, known.size ? `${known.size} known without a call` : null, `${alignment.extra.length} not needed`, which].filter(Boolean).join(" · ");
  return section("alignment", "Reference and actual calls", note, grid);
}

/* The actual calls that a match takes. */
function takes(match) {
  return [match.actual, ...(match.also || [])];
}

/* Whether nothing is left to wish for; only then is there a tick. */
function full(match) {
  return match.way ? match.way !== "partly" : !match.differences.length;
}

const BEGINS = {
  first: "the first call",
  hint: "the client says so",
  overlap: "sent before an answer came",
  dataflow: "uses an earlier result",
  client: "as this client sends calls of one turn together",
  arrival: "after all answers had left",
  gap: "after a pause",
};

/* What a chosen call is: its differences when it is matched, its arguments when it stands alone. */
function callDetail({ side, one, match, note, known }, references, actuals) {
  if (!match) {
    const meaning = side === "actual" ? "No call of the reference asks for it."
      : known ? "Not needed in this run: what it gives was evidently known without it." : "No call that was made answers it." + (note ? ` The nearest one: ${note}.` : "");
    return [h("p", { class: "small" }, meaning), h("pre", { class: "text", tabindex: "0", dir: "auto" }, clip(JSON.stringify(one.call.arguments, null, 1), 20000))];
  }
  const how = match.way ? `${match.note || "The same call"}, ${fixed(match.similarity)}` : `Similarity ${fixed(match.similarity)}, ${match.strong ? "a strong match" : "a weak match"}`;
  const words = `${how}: reference step ${references[match.reference].step}, actual step ${actuals[match.actual].step}.`;
  if (!match.differences.length) {
    return [h("p", { class: "small" }, words + (match.way === "another route" ? "" : " The arguments are the same.")),
      h("pre", { class: "text", tabindex: "0", dir: "auto" }, clip(JSON.stringify(one.call.arguments, null, 1), 20000))];
  }
  const value = (difference, name) => (name in difference ? said(brief(difference[name], 400)) : h("span", { class: "soft" }, "–"));
  return [h("p", { class: "small" }, words), h("div", { class: "scroll" }, table({
    columns: [{ label: "argument", head: true }, { label: "reference" }, { label: "actual" }],
    rows: match.differences.map((difference) => [said(difference.argument || "(all)", 120), value(difference, "reference"), value(difference, "actual")]),
    className: "small",
  }))];
}
