/* What every page is built of. Nodes come from h() and s() alone: attributes and text, never markup. */

const pages = {};

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "style" || name.startsWith("on")) throw new Error("no styles or handlers in attributes: " + name);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/* An element: h("p", {class: "soft", click: handler}, "text", node, [nodes]). Functions become listeners. */
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/* The same for a part of a drawing. */
function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* Text from outside: it cannot turn the writing direction of what stands beside it. */
function said(text, limit) {
  const shown = limit ? clip(text, limit) : text;
  const isName = typeof shown === "string" && shown.length < 400 && /[^\s-]{32}/u.test(shown);
  return h("bdi", {}, isName ? parted(shown, JOINTS) : shown);
}

/* The same where it names calls: a line may end before their arguments, so that no word is broken. */
function saidOfCalls(text, limit) {
  return h("bdi", {}, parted(limit ? clip(text, limit) : text, /(?<=\()/));
}

/* Where a long name may go over to the next line: after what joins its words, and within a word that nobody can read. */
const JOINTS = /(?<=[_:/])(?=\p{L})|(?<=[^\s_:/-]{20})(?=[^\s_:/-]{20})/u;

function parted(text, joints) {
  return text.split(joints).map((part, number) => (number ? [h("wbr"), part] : part));
}

/* ---- numbers and words ---- */

/* A number to some digits, ties to even as Python rounds them. */
function fixed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const halves = value * 2 ** (digits + 1);
  if (Number.isInteger(halves) && halves % 2 !== 0) {
    const below = Math.floor(value * 10 ** digits);
    return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
  }
  return value.toFixed(digits);
}

function signed(value, digits = 3) {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + fixed(Math.abs(value), digits);
}

function count(number, one, many) {
  return grouped(number) + " " + (number === 1 ? one : many || one + "s");
}

/* Thousands apart by a narrow space. */
function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/* A span of time given in nanoseconds. */
function duration(ns) {
  if (ns === null || ns === undefined) return "–";
  const ms = ns / 1e6;
  if (ms < 10) return fixed(ms, 1) + " ms";
  if (ms < 1000) return fixed(ms, 0) + " ms";
  if (ms < 60000) return fixed(ms / 1000, ms < 10000 ? 2 : 1) + " s";
  return Math.floor(ms / 60000) + " min " + fixed((ms % 60000) / 1000, 0) + " s";
}

function clip(text, limit) {
  const whole = String(text);
  if (whole.length <= limit) return whole;
  const end = /[\ud800-\udbff]/.test(whole[limit - 2]) ? limit - 2 : limit - 1;
  return whole.slice(0, end) + "…";
}

/* A JSON value on one line. */
function brief(value, limit = 60) {
  return clip(typeof value === "string" ? value : JSON.stringify(value), limit);
}

function words(name) {
  return String(name).replaceAll("_", " ");
}

/* ---- parts ---- */

const MARKS = {
  strong: ["✓", "answered"],
  weak: ["≈", "answered in part, or in other words"],
  missed: ["✗", "missed"],
  extra: ["+", "not needed"],
  known: ["○", "known without it"],
};

/* The sign of a state. */
function mark(kind) {
  const [sign, meaning] = MARKS[kind];
  return h("span", { class: "mark " + kind, title: meaning, role: "img", "aria-label": meaning }, sign);
}

function badge(tone, text) {
  return h("span", { class: "badge " + tone }, text);
}

/* Solved, not solved, or nothing to tell by. */
function verdict(success) {
  if (success === null || success === undefined) return badge("plain", "no checks");
  return success ? badge("strong", "✓ solved") : badge("missed", "✗ not solved");
}

/* Call outcomes in the tones of the states. */
function outcomeTone(outcome, owner) {
  if (owner && owner !== "agent") return "extra";
  return outcome === "success" ? "strong" : outcome === "not_found" ? "weak" : "missed";
}

function section(id, title, note, ...children) {
  const heading = h("h2", { id: id + "-title" }, title);
  const head = h("div", { class: "head" }, heading, note ? h("span", { class: "note" }, note) : null);
  return h("section", { class: "section", id, "aria-labelledby": id + "-title" }, head, children);
}

/* A value from 0 to 1 as a bar; low and high, when they differ, as a range on it. */
function bar({ value, low, high, label, tone }) {
  const width = (part) => Math.max(0, Math.min(1, part)) * 100 + "%";
  const drawing = s("svg", { class: "bar " + (tone || ""), role: "img", "aria-label": label, preserveAspectRatio: "none" },
    s("rect", { class: "track", width: "100%", height: 12, rx: 2 }));
  if (value !== null && value !== undefined) drawing.append(s("rect", { class: "fill", width: width(value), height: 12, rx: 2 }));
  if (low !== undefined && high - low > 0.0005) {
    drawing.append(
      s("rect", { class: "range-wash", x: width(low), width: width(high - low), y: 3, height: 6 }),
      s("line", { class: "range", x1: width(low), x2: width(low), y1: 0, y2: 12 }),
      s("line", { class: "range", x1: width(high), x2: width(high), y1: 0, y2: 12 }));
  }
  return drawing;
}

/* columns: [{label, right, head, hide}], rows: arrays of cells; the cell of a column with `head` names its row.
   A table with `stack` becomes a list of rows where there is little room, each value beside the name of its column. */
function table({ caption, columns, rows, className, stack }) {
  const role = (name) => (stack ? name : null);
  const cell = (content, column) => h(column.head ? "th" : "td",
    { class: column.right ? "right number" : column.className, scope: column.head ? "row" : null, role: role(column.head ? "rowheader" : "cell"),
      "data-label": stack && !column.head && !column.hide ? column.short || column.label : null }, content);
  return h("table", { class: [className, stack ? "stack" : null].filter(Boolean).join(" ") || null, role: role("table") },
    caption ? h("caption", {}, caption) : null,
    h("thead", { role: role("rowgroup") }, h("tr", { role: role("row") }, columns.map((column) => h("th", { scope: "col", role: role("columnheader"), "aria-sort": column.sorted, class: column.right ? "right" : column.className },
      column.hide ? h("span", { class: "visually-hidden" }, column.label) : column.sort ? column.sort : column.label)))),
    h("tbody", { role: role("rowgroup") }, rows.map((row) => h("tr", { role: role("row") }, row.map((content, index) => cell(content, columns[index]))))));
}

/* A part that scrolls sideways when its contents are wider; reached and named for those who do not see it. */
function scrolled(label, ...children) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, children);
}

/* A table that its headings sort. A column says `cell`, what it shows of an item, and `by`, what it is sorted by: a
   number or a text, null last. Returns {node, show}; `show` draws other items, in the same order. */
function sortable({ columns, items, className, stack, first, label }) {
  const chosen = { at: -1, down: true };
  const holder = stack ? h("div", {}) : scrolled(label);
  let shown = items;
  const compare = (one, other) => {
    const by = columns[chosen.at].by;
    const [a, b] = [by(one), by(other)];
    if (a === null || a === undefined || b === null || b === undefined) return (a === null || a === undefined) - (b === null || b === undefined);
    const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
    return chosen.down ? -order : order;
  };
  function draw(focus) {
    const list = chosen.at < 0 ? shown : [...shown].sort(compare);
    const heads = columns.map((column, at) => ({ ...column,
      sorted: chosen.at === at ? (chosen.down ? "descending" : "ascending") : null,
      sort: column.by ? h("button", { type: "button", class: "sort", "data-sort": column.label, click: () => choose(at) }, column.label,
        h("span", { class: "arrow", "aria-hidden": "true" }, chosen.at === at ? (chosen.down ? "↓" : "↑") : "↕")) : null }));
    const drawn = table({ columns: heads, rows: list.slice(0, first || list.length).map((item) => columns.map((column) => column.cell(item))), className, stack });
    const rest = first && list.length > first ? more(drawn.tBodies[0], list.slice(first), 0, (item) => [...table({ columns, rows: [columns.map((column) => column.cell(item))], stack }).tBodies[0].rows], "rows") : null;
    holder.replaceChildren(...[order, drawn, rest].filter(Boolean));
    if (focus) [...holder.querySelectorAll("button.sort")].filter((button) => button.dataset.sort === columns[chosen.at].label).forEach((button) => button.focus());
  }
  function choose(at) {
    const text = typeof columns[at].by(items[0] || {}) === "string";
    Object.assign(chosen, chosen.at === at ? { down: !chosen.down } : { at, down: !text });
    if (select) select.value = String(at);
    draw(true);
  }
  /* Headings are out of sight where rows are lists; a choice stands in for them. */
  const select = stack ? h("select", { "aria-label": "Order of " + label, change: () => {
    if (select.value === "") Object.assign(chosen, { at: -1, down: true });
    else Object.assign(chosen, { at: Number(select.value), down: !(typeof columns[Number(select.value)].by(items[0] || {}) === "string") });
    draw();
  } }, h("option", { value: "" }, "in order of rank"), columns.map((column, at) => (column.by ? h("option", { value: String(at) }, "by " + column.label) : null))) : null;
  const order = select ? h("p", { class: "order filters" }, select) : null;
  draw();
  return { node: holder, show: (list) => { shown = list; draw(); } };
}

function facts(pairs) {
  const kept = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, kept.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value instanceof Node ? value : said(value))]));
}

/* Contents that are built when they are opened first. */
function disclosure(summary, build, attributes) {
  const node = h("details", attributes, h("summary", {}, summary));
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) node.append(...[build()].flat());
  });
  return node;
}

/* Draws the first items into a parent, and a button for the rest, some hundreds at a time. */
function more(parent, items, first, draw, noun) {
  let shown = 0;
  const button = h("button", { class: "button screen-only", type: "button", click: () => show(500) });
  const holder = h("p", { class: "more" }, button);
  function show(number) {
    parent.append(...items.slice(shown, shown + number).flatMap((item, index) => draw(item, shown + index)));
    shown = Math.min(items.length, shown + number);
    holder.hidden = shown >= items.length;
    const left = items.length - shown;
    button.textContent = `Show ${grouped(Math.min(500, left))} more ${noun}` + (left > 500 ? ` of ${grouped(left)}` : "");
  }
  show(first);
  return holder;
}

/* A text from outside with its size, cut where the document cut it. */
function excerpt(part) {
  if (!part || part.size === 0) return h("p", { class: "soft small" }, "empty");
  return [
    h("pre", { class: "text", tabindex: "0", dir: "auto" }, part.text),
    part.cut ? h("p", { class: "soft small" }, `The first ${grouped(part.text.length)} of ${count(part.size, "character")}.`) : null,
  ].filter(Boolean);
}

/* The button that changes light and dark. */
function themeButton() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = h("button", { class: "button screen-only", type: "button", click: () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  } });
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  name();
  return button;
}

/* The frame of a page: top line, main, foot; returns main. `links` are those of the site that the page belongs to, and
   `path` leads from its home to this page: [[label, address], …]. */
function frame(root, trail, foot, links, path) {
  const main = h("main", { id: "main" });
  const home = links && links.home;
  const brand = home ? h("a", { class: "name", href: home }, "m3bench") : h("span", { class: "name" }, "m3bench");
  const menu = !links ? h("span", { class: "trail" }, said(trail)) : h("nav", { class: "menu", "aria-label": "Site" },
    [["Board", links.board], ["Results", links.results], ["Tasks", links.tasks]].filter(([, address]) => address).map(([label, address]) => h("a", { href: address }, label)));
  root.append(h("div", { class: "sheet" },
    h("header", { class: "top" }, h("a", { class: "skip", href: "#main" }, "Skip to the contents"), brand, menu, themeButton()),
    path && path.length ? h("nav", { class: "path small", "aria-label": "Where this is" }, h("ol", {},
      path.map(([label, address]) => h("li", {}, address ? h("a", { href: address }, said(label, 60)) : h("span", { "aria-current": "page" }, said(label, 60)))))) : null,
    main,
    h("footer", { class: "foot" }, foot)));
  return main;
}

/* A name as a link where there is a page for it. */
function linked(address, ...contents) {
  return address ? h("a", { href: address }, contents) : h("span", {}, contents);
}

/* Files to take away, by what they are. */
function downloads(names) {
  const groups = new Map();
  for (const name of names || []) {
    const kind = name.slice(name.lastIndexOf(".") + 1).toUpperCase().replace("TEX", "LaTeX");
    if (!groups.has(kind)) groups.set(kind, []);
    groups.get(kind).push(name);
  }
  const label = (name) => words(name.slice(name.lastIndexOf("/") + 1, name.lastIndexOf(".")));
  return groups.size ? section("downloads", "Downloads", "every number of this page and more, to work with", h("dl", { class: "facts" }, [...groups].map(([kind, files]) =>
    [h("dt", {}, kind), h("dd", {}, files.map((name, at) => [at ? " · " : "", h("a", { href: name, download: "" }, label(name))]))]))) : null;
}

/* Links to what comes before and after. */
function nearby(links, kind) {
  if (!links || !links.near) return null;
  const [before, after] = links.near.map((name) => (name && links[kind][name] ? [name, links[kind][name]] : null));
  const word = kind === "task" ? (name) => said(name, 60) : () => null;
  return before || after ? h("nav", { class: "near small", "aria-label": "Before and after" }, before ? h("a", { href: before[1], rel: "prev" }, `‹ previous ${kind} `, word(before[0])) : h("span"), after ? h("a", { href: after[1], rel: "next" }, `next ${kind} `, word(after[0]), " ›") : h("span")) : null;
}
