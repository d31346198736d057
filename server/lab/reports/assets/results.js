/* Results of calls: tables, lists, texts, pictures, sound and files, with every value at hand. What a tool said is text
   and nothing else: no markup of it is ever read. */

const MOST_BUTTONS = 400;
const FIRST_ITEMS = 40;
const FIRST_TEXT = 12000;
const DEEP = 4;

/* What in a line of text may be wanted elsewhere: what is quoted, addresses, paths, numbers with what belongs to them. */
const WORTH = /"([^"\n]{1,200})"|(https?:\/\/[^\s"'<>)\]]+)|(\.{0,2}\/[\w.\/-]*\w)|([A-Za-z]*[+-]?\d(?:[\w.,:\/-]*\w)?)/g;

/* Values that can be put into a field: `use` gets the text of one; `known` keeps them for suggestions. */
function makeValues(use, known) {
  function button(text, left) {
    const whole = String(text);
    if (whole === "" || left.buttons >= MOST_BUTTONS) return said(whole);
    left.buttons += 1;
    known(whole);
    return h("button", { type: "button", class: "value", tabindex: "-1", "data-value": whole, click: () => use(whole) }, said(whole, 300));
  }

  function plain(text, left) {
    const parts = [];
    for (const row of text.split("\n")) {
      const pair = /^(\s*(?:[-*•]\s+)?[^:"\n]{1,40}:\s+)(\S[^"\n]{0,119})$/.exec(row);
      if (pair && !/^\/\//.test(pair[2])) parts.push(pair[1], button(pair[2].trimEnd(), left));
      else {
        let at = 0;
        for (const found of row.matchAll(WORTH)) {
          const value = found[1] ?? found[0];
          const start = found.index + (found[1] === undefined ? 0 : 1);
          parts.push(row.slice(at, start), button(value, left));
          at = start + value.length;
        }
        parts.push(row.slice(at));
      }
      parts.push("\n");
    }
    parts.pop();
    // What may be too long to see at once is scrolled with the keyboard, too.
    const isLong = text.length > 600 || text.split("\n").length > 12;
    return h("pre", { class: "text", dir: "auto", tabindex: isLong ? "0" : null }, parts);
  }

  function textNode(text, left) {
    if (text.length <= FIRST_TEXT) return plain(text, left);
    const holder = h("div", {}, plain(text.slice(0, FIRST_TEXT), left));
    const rest = h("button", { type: "button", class: "button", click: () => { rest.remove(); holder.append(plain(text.slice(FIRST_TEXT), left)); } },
      `Show the other ${count(text.length - FIRST_TEXT, "character")}`);
    return h("div", {}, holder, rest);
  }

  const scalar = (value) => value === null || typeof value !== "object";
  const record = (value) => !scalar(value) && !Array.isArray(value);

  function cell(value, left, depth) {
    if (value === undefined) return h("span", { class: "soft" }, "–");
    if (value === null || typeof value === "boolean") return h("span", { class: "soft" }, value === null ? "none" : value ? "yes" : "no");
    if (scalar(value)) return button(value, left);
    return depth >= DEEP ? button(JSON.stringify(value), left) : tree(value, left, depth + 1);
  }

  function rowsNode(items, left, depth) {
    const names = [...new Set(items.slice(0, 200).flatMap(Object.keys))];
    const columns = names.map((name) => ({ label: words(name) }));
    const draw = (item) => [...table({ columns, rows: [names.map((name) => cell(item[name], left, depth))] }).tBodies[0].rows];
    const drawn = table({ columns, rows: [], className: "result" });
    const rest = more(drawn.tBodies[0], items, FIRST_ITEMS, draw, "rows");
    return h("div", {}, scrolled("A table of the answer", drawn), rest);
  }

  function tree(value, left, depth = 0) {
    if (scalar(value)) return cell(value, left, depth);
    if (Array.isArray(value)) {
      if (!value.length) return h("span", { class: "soft" }, "nothing");
      if (value.length > 1 && depth < 2 && value.every(record) && new Set(value.slice(0, 200).flatMap(Object.keys)).size <= 16) return rowsNode(value, left, depth);
      const list = h("ul", { class: value.every(scalar) ? "inline" : "items" });
      const rest = more(list, value, FIRST_ITEMS, (item) => h("li", {}, cell(item, left, depth)), "items");
      return h("div", {}, list, rest);
    }
    return h("dl", { class: "facts" }, Object.entries(value).map(([name, part]) => [h("dt", {}, said(words(name), 80)), h("dd", {}, cell(part, left, depth))]));
  }

  /* Text as what it is: a document where it is JSON. */
  function shown(text, left) {
    const start = text.trimStart()[0];
    // Longer numbers than these lose digits when JSON is read.
    if ((start === "{" || start === "[") && !/\d{16}/.test(text)) {
      try {
        return tree(JSON.parse(text), left);
      } catch (error) {
        return textNode(text, left);
      }
    }
    return textNode(text, left);
  }

  return { shown, tree, button };
}

/* One stop of the Tab key for all values of a result; arrows go from one to the next, in a table also up and down. */
function roving(holder) {
  const all = () => [...holder.querySelectorAll("button.value")];
  const first = all()[0];
  if (first) first.tabIndex = 0;
  holder.addEventListener("focusin", (event) => {
    if (!event.target.classList.contains("value")) return;
    all().forEach((one) => { one.tabIndex = one === event.target ? 0 : -1; });
  });
  holder.addEventListener("keydown", (event) => {
    const here = event.target;
    if (!here.classList.contains("value") || event.ctrlKey || event.altKey || event.metaKey) return;
    const every = all();
    const at = every.indexOf(here);
    const beside = { ArrowLeft: every[at - 1], ArrowRight: every[at + 1], ArrowUp: above(here, -1) || every[at - 1], ArrowDown: above(here, 1) || every[at + 1], Home: every[0], End: every[every.length - 1] };
    if (!(event.key in beside)) return;
    event.preventDefault();
    if (beside[event.key]) beside[event.key].focus();
  });
}

/* The value in the same column of the row before or after. */
function above(node, by) {
  const own = node.closest("td");
  const row = own && own.closest("tr");
  const next = row && (by < 0 ? row.previousElementSibling : row.nextElementSibling);
  return next && next.cells[own.cellIndex] ? next.cells[own.cellIndex].querySelector("button.value") : null;
}

const dataUrl = (type, base64) => "data:" + (/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream") + ";base64," + base64;

/* A picture that opens large. */
function pictureNode(url, label, viewer) {
  return h("button", { type: "button", class: "picture", "aria-label": `${label}: show it large`, click: () => viewer.show(url, label) }, h("img", { src: url, alt: label }));
}

/* Sound and film, played here; anything else to take away. */
function fileNode(url, type, name, viewer) {
  if (/^image\/(png|jpeg|webp|gif)$/.test(type)) return pictureNode(url, name, viewer);
  if (type.startsWith("audio/")) return h("audio", { controls: true, src: url, "aria-label": name });
  if (type.startsWith("video/")) return h("video", { controls: true, src: url, "aria-label": name });
  return h("a", { class: "button", href: url, download: name.replace(/^.*\//, "").slice(0, 120) || "file" }, "Save ", said(name, 80));
}

/* The blocks of a result. `look` is {values, viewer, read}; `read` gets a resource by its address. */
function resultNode(result, label, look) {
  const left = { buttons: 0 };
  const holder = h("div", { class: "result-body" + (result.isError ? " failed" : "") });
  const blocks = result.content || [];
  if (!blocks.length && result.structuredContent) holder.append(look.values.tree(result.structuredContent, left));
  holder.append(...blocks.map((block) => blockNode(block, (block.type === "image" ? "A picture from " : "Sound from ") + label, look, left)));
  if (!holder.childNodes.length) holder.append(h("p", { class: "soft" }, "The answer is empty."));
  const pictures = [...holder.querySelectorAll("button.picture")].length;
  roving(holder);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", `Answer of ${label}` + (left.buttons ? `, ${count(left.buttons, "value")}` : "") + (pictures ? `, ${count(pictures, "picture")}` : ""));
  return holder;
}

function blockNode(block, label, look, left) {
  const type = block.mimeType || "";
  switch (block.type) {
    case "text": return look.values.shown(String(block.text), left);
    case "image": case "audio": return fileNode(dataUrl(type, block.data), type, label, look.viewer);
    case "resource": return contentNode(block.resource || {}, look, left);
    case "resource_link": {
      const holder = h("div", {});
      const opens = h("button", { type: "button", class: "button", click: async () => {
        try {
          const { contents } = await look.read(block.uri);
          holder.replaceChildren(...contents.map((part) => contentNode({ ...part, name: block.name }, look, left)));
        } catch (error) {
          holder.append(h("p", { class: "tone-missed" }, said(error.message, 300)));
        }
      } }, "Open ", said(block.name || block.uri, 80));
      holder.append(opens);
      return holder;
    }
    default: return look.values.tree(block, left);
  }
}

function contentNode(part, look, left) {
  const name = part.name || part.uri || "file";
  if (typeof part.blob === "string") return fileNode(dataUrl(part.mimeType || "", part.blob), part.mimeType || "", name, look.viewer);
  return look.values.shown(String(part.text), left);
}

/* The window in which a picture is looked at: keys + and − change its size, 0 fits it, arrows move it, Escape closes it. */
function makeViewer() {
  const picture = h("img", { alt: "" });
  const place = h("div", { class: "viewer-place", tabindex: "0", role: "region", "aria-label": "The picture" }, picture);
  const told = h("span", { class: "number soft", role: "status" });
  let scale = 0;
  const fitting = () => Math.min(1, place.clientWidth / picture.naturalWidth, place.clientHeight / picture.naturalHeight) || 1;
  const draw = (next) => {
    const before = picture.width || 1;
    const middle = [(place.scrollLeft + place.clientWidth / 2) / before, (place.scrollTop + place.clientHeight / 2) / (picture.height || 1)];
    scale = Math.max(0.1, Math.min(8, next));
    picture.width = Math.round(picture.naturalWidth * scale);
    place.scrollTo(middle[0] * picture.width - place.clientWidth / 2, middle[1] * picture.height - place.clientHeight / 2);
    told.textContent = `${Math.round(scale * 100)} %`;
  };
  const act = { "+": () => draw(scale * 1.5), "=": () => draw(scale * 1.5), "-": () => draw(scale / 1.5), 0: () => draw(fitting()) };
  const button = (label, name, key) => h("button", { type: "button", class: "button", "aria-label": name, click: act[key] }, label);
  const node = h("dialog", { class: "viewer", "aria-label": "A picture, large" },
    h("div", { class: "viewer-head" }, button("−", "Smaller", "-"), button("+", "Larger", "+"), button("Fit", "Fit into the window", "0"), told,
      h("button", { type: "button", class: "button closes", click: () => node.close() }, "Close")), place);
  node.addEventListener("keydown", (event) => {
    if (!(event.key in act) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act[event.key]();
  });
  return { node, show(url, label) {
    picture.alt = label;
    picture.addEventListener("load", () => draw(fitting()), { once: true });
    picture.src = url;
    node.showModal();
    place.focus();
  } };
}
