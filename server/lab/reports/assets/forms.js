/* Forms made from JSON schemas. A control is {node, read, set, first}: `read` gives its value, undefined when it was left
   empty, or throws a FormProblem; `set` puts a value in; `first` is what takes the focus. */

class FormProblem extends Error {
  constructor(control, message) {
    super(message);
    this.control = control;
  }
}

/* The list of values of earlier results that text fields suggest. */
const KNOWN = "known-values";
const MANY_LINES = /(^|_)(content|text|code|body|script|markup|markdown|message|html|svg|prompt|note|notes)$/i;
const FEW = 3;

let controls = 0;

/* A schema without the null that stands for "left out"; several other kinds are told apart when they are read. */
function plainSchema(schema) {
  const kinds = (schema.anyOf || schema.oneOf || []).filter((kind) => kind.type !== "null");
  if (!kinds.length) return Array.isArray(schema.type) ? { ...schema, type: schema.type.find((type) => type !== "null") } : schema;
  const same = kinds.every((kind) => kind.type === kinds[0].type);
  return { ...(same ? kinds[0] : {}), description: schema.description || kinds[0].description, default: schema.default };
}

/* A control with its name, what it is for, and what is wrong with it. */
function labelled(name, input, { required, hint }) {
  const id = "control-" + ++controls;
  const help = h("p", { class: "soft small hint", id: id + "-hint" }, hint ? said(hint, 600) : null);
  const problem = h("p", { class: "problem small tone-missed", id: id + "-problem", hidden: true });
  input.id = id;
  input.dataset.field = name;
  input.setAttribute("aria-describedby", (hint ? help.id + " " : "") + problem.id);
  if (required) input.setAttribute("aria-required", "true");
  const node = h("div", { class: "field" },
    h("label", { for: id }, said(words(name), 80), required ? h("span", { class: "soft" }, " (needed)") : null), input, hint ? help : null, problem);
  input.addEventListener("input", () => blame(""));
  function blame(message) {
    problem.textContent = message;
    problem.hidden = !message;
    if (message) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
  return { node, blame, first: input };
}

/* A control around one element: `parse` gets its text, which is never empty, and throws what is wrong with it. */
function textControl(name, input, options, parse, write) {
  const part = labelled(name, input, options);
  return {
    ...part,
    read() {
      part.blame("");
      const text = input.value;
      if (text === "" || (options.trims && text.trim() === "")) {
        if (!options.required) return undefined;
        throw new FormProblem(part, `${words(name)} is needed.`);
      }
      try {
        return parse(text);
      } catch (error) {
        throw new FormProblem(part, `${words(name)}: ${error.message}`);
      }
    },
    set(value) {
      input.value = value === undefined || value === null ? "" : write(value);
    },
  };
}

const asJson = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const line = (attributes) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
const lines = (rows) => h("textarea", { rows, autocomplete: "off", spellcheck: "false" });

function asNumber(text) {
  const cleaned = text.trim().replace(/[\s\u2009\u202f]/g, "");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cleaned)) throw new Error(`“${clip(text.trim(), 30)}” is no number; write it as 1234.5.`);
  return Number(cleaned);
}

/* Text as JSON where it is some; as it stands otherwise. */
function loosely(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    return text.trim();
  }
}

function choiceControl(name, choices, options) {
  const empty = options.required ? "choose" : options.schema.default === undefined || options.schema.default === null ? "left out" : "left out: " + brief(options.schema.default, 40);
  const input = h("select", {}, h("option", { value: "" }, empty), choices.map(([label], at) => h("option", { value: String(at) }, brief(label, 80))));
  const control = textControl(name, input, { ...options, trims: true }, (text) => choices[Number(text)][1], String);
  return { ...control, set(value) {
    const at = choices.findIndex(([, chosen]) => chosen === value);
    input.value = at < 0 ? "" : String(at);
  } };
}

/* One item on each line, or a JSON list. */
function listControl(name, item, options) {
  const parseItem = item.type === "number" || item.type === "integer" ? asNumber : item.type === "string" ? (text) => text : loosely;
  const parse = (text) => {
    const whole = text.trim().startsWith("[") ? loosely(text) : null;
    return Array.isArray(whole) ? whole : text.split("\n").map((part) => part.trim()).filter(Boolean).map(parseItem);
  };
  const hint = [options.hint, "One on each line."].filter(Boolean).join(" ");
  const control = textControl(name, lines(2), { ...options, hint, trims: true }, parse, (value) => (Array.isArray(value) ? value.map(asJson).join("\n") : asJson(value)));
  control.first.dataset.lines = "yes";
  return control;
}

/* An object without known names: JSON, or a line `name: value` for each. */
function namesControl(name, options) {
  const parse = (text) => {
    if (text.trim().startsWith("{")) return JSON.parse(text);
    return Object.fromEntries(text.split("\n").filter((part) => part.trim()).map((part) => {
      const [, key, value] = /^\s*"?([^:"]+)"?\s*:\s*(.*)$/.exec(part) || [];
      if (key === undefined) throw new Error("write a line such as latitude: 48.9 for each part, or JSON.");
      return [key.trim(), loosely(value)];
    }));
  };
  const hint = [options.hint, "A line “name: value” for each part, or JSON."].filter(Boolean).join(" ");
  const flat = (value) => Object.values(value).every((part) => typeof part !== "object");
  return textControl(name, lines(2), { ...options, hint, trims: true }, parse,
    (value) => (flat(value) ? Object.entries(value).map(([key, part]) => `${key}: ${asJson(part)}`).join("\n") : JSON.stringify(value)));
}

/* Rows of a table as JSON, or as a spreadsheet copies them: a line for each row, tabs between cells. */
function rowsControl(name, options) {
  const parse = (text) => {
    if (text.trim().startsWith("[")) return JSON.parse(text);
    return text.split("\n").filter((part) => part.trim()).map((part) => part.split("\t").map((cell) => loosely(cell)));
  };
  const hint = [options.hint, "JSON such as [[\"a\", 1], [\"b\", 2]], or rows that were copied from a spreadsheet."].filter(Boolean).join(" ");
  return textControl(name, lines(3), { ...options, hint, trims: true }, parse, JSON.stringify);
}

function jsonControl(name, options, strict) {
  const parse = (text) => {
    if (!strict) return loosely(text);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Error("this is no JSON: " + error.message);
    }
  };
  const hint = [options.hint, strict ? "JSON." : "Text or JSON."].filter(Boolean).join(" ");
  return textControl(name, lines(2), { ...options, hint, trims: true }, parse, asJson);
}

/* Parts that repeat, each a group of controls; `draw` makes one. */
function repeatedControl(name, draw, { required, hint }) {
  const parts = [];
  const list = h("div", { class: "parts" });
  const adds = h("button", { type: "button", class: "button" }, "Add ", said(words(name)));
  adds.dataset.field = name;
  adds.dataset.adds = "yes";
  const add = () => {
    const part = draw();
    const removes = h("button", { type: "button", class: "button", click: () => {
      parts.splice(parts.indexOf(part), 1);
      row.remove();
      adds.focus();
    } }, "Remove");
    const row = h("div", { class: "part", role: "group", "aria-label": words(name) }, part.node, removes);
    parts.push(part);
    list.append(row);
    return part;
  };
  adds.addEventListener("click", () => add().first.focus());
  const problem = h("p", { class: "problem small tone-missed", hidden: true });
  const blame = (message) => { problem.textContent = message; problem.hidden = !message; };
  const control = {
    node: h("fieldset", { class: "group" }, h("legend", {}, said(words(name)), required ? h("span", { class: "soft" }, " (needed)") : null),
      hint ? h("p", { class: "soft small hint" }, said(hint, 600)) : null, list, adds, problem),
    first: adds, blame,
    read() {
      blame("");
      const values = parts.map((part) => part.read()).filter((value) => value !== undefined);
      if (required && !values.length) throw new FormProblem(control, `${words(name)} is needed.`);
      return values.length ? values : undefined;
    },
    set(values) {
      parts.splice(0);
      list.replaceChildren();
      (Array.isArray(values) ? values : []).forEach((value) => add().set(value));
    },
  };
  return control;
}

/* The properties of an object, those that are needed first; many others are behind a line that opens. */
function objectControl(schema, title, { required = true, hint } = {}) {
  const needed = new Set(schema.required || []);
  const all = Object.entries(schema.properties || {}).map(([name, part]) => ({ name, needed: needed.has(name), control: schemaControl(name, part, needed.has(name)) }));
  const ordered = [...all.filter((part) => part.needed), ...all.filter((part) => !part.needed)];
  const others = all.filter((part) => !part.needed);
  const opens = others.length > FEW ? h("details", { class: "others" }, h("summary", {}, `${others.length} more fields, which may be left out`), others.map((part) => part.control.node)) : null;
  const nodes = [ordered.filter((part) => part.needed || !opens).map((part) => part.control.node), opens];
  return {
    node: title === null ? h("div", { class: "fields" }, nodes)
      : h("fieldset", { class: "group" }, h("legend", {}, said(words(title)), required ? h("span", { class: "soft" }, " (needed)") : null), hint ? h("p", { class: "soft small hint" }, said(hint, 600)) : null, nodes),
    first: ordered.length ? ordered[0].control.first : null,
    read() {
      const values = ordered.map((part) => [part.name, part.control.read()]).filter(([, value]) => value !== undefined);
      return values.length || required ? Object.fromEntries(values) : undefined;
    },
    set(values) {
      ordered.forEach((part) => part.control.set(values ? values[part.name] : undefined));
      if (opens) opens.open = others.some((part) => values && values[part.name] !== undefined);
    },
  };
}

/* The control for a property. */
function schemaControl(name, given, required) {
  const schema = plainSchema(given);
  const usual = schema.default === undefined || schema.default === null || schema.default === "" ? "" : `${brief(schema.default, 60)} when left out.`;
  const options = { required, schema, hint: [schema.description, usual].filter(Boolean).join(" · ") };
  const item = plainSchema(schema.items || {});
  if (schema.enum) return choiceControl(name, schema.enum.map((value) => [value, value]), options);
  if (schema.type === "boolean") return choiceControl(name, [["yes", true], ["no", false]], options);
  if (schema.type === "integer" || schema.type === "number") return textControl(name, line({ inputmode: "decimal", list: KNOWN }), { ...options, trims: true }, asNumber, String);
  if (schema.type === "string") return textControl(name, MANY_LINES.test(name) ? lines(2) : line({ list: KNOWN }), options, (text) => text, asJson);
  if (schema.type === "array" && item.type === "array") return rowsControl(name, options);
  if (schema.type === "array" && item.type === "object" && item.properties) return repeatedControl(name, () => objectControl(item, null), options);
  if (schema.type === "array" && item.type !== "object") return listControl(name, item, options);
  if (schema.type === "object" && schema.properties) return objectControl(schema, name, options);
  if (schema.type === "object") return namesControl(name, options);
  return jsonControl(name, options, schema.type === "array");
}

/* The control for a field that a task asks for, as start_task tells of it. What is left empty is not handed in. */
function answerControl(field) {
  const form = { date: field.precision === "day" ? "as 2025-01-31" : "", time: "as 17:05", code: field.form || "", file: "its path in the folder of the run" }[field.type];
  const unit = field.unit ? `in ${field.unit}` : "";
  const options = { required: false, schema: {}, hint: [field.meaning, unit, form].filter(Boolean).join(", ") };
  const number = (text) => { try { return asNumber(text); } catch (error) { return text.trim(); } };
  const plain = (text) => text.trim();
  const oneLine = (parse) => textControl(field.name, line({ list: KNOWN }), { ...options, trims: true }, parse, asJson);
  switch (field.type) {
    case "choice": return choiceControl(field.name, (field.options || []).map((value) => [value, value]), options);
    case "yes_no": return choiceControl(field.name, [["yes", true], ["no", false]], options);
    case "number": case "integer": case "money": return oneLine(number);
    case "set": case "list": {
      const of = field.of || {};
      if (of.type === "pair") return rowsControl(field.name, options);
      return listControl(field.name, { type: ["number", "integer", "money"].includes(of.type) ? "" : "string" }, options);
    }
    case "table": return repeatedControl(field.name, () => rowControl(field.columns || []), options);
    case "pair": return pairControl(field, options, number);
    default: return oneLine(plain);
  }
}

function rowControl(columns) {
  const cells = columns.map((column) => answerControl(column));
  return {
    node: h("div", { class: "fields row" }, cells.map((cell) => cell.node)),
    first: cells[0].first,
    read() {
      const values = cells.map((cell, at) => [columns[at].name, cell.read()]).filter(([, value]) => value !== undefined);
      return values.length ? Object.fromEntries(values) : undefined;
    },
    set: (values) => cells.forEach((cell, at) => cell.set(values[columns[at].name])),
  };
}

function pairControl(field, options, parse) {
  const parts = (field.parts || ["first", "second"]).map((name) => textControl(name, line({ list: KNOWN }), { required: false, trims: true }, parse, asJson));
  return {
    node: h("fieldset", { class: "group" }, h("legend", {}, said(words(field.name))), h("p", { class: "soft small hint" }, said(options.hint)), h("div", { class: "fields row" }, parts.map((part) => part.node))),
    first: parts[0].first,
    read() {
      const values = parts.map((part) => part.read());
      return values.every((value) => value === undefined) ? undefined : values.map((value) => value ?? "");
    },
    set: (values) => parts.forEach((part, at) => part.set(values ? values[at] : undefined)),
  };
}
