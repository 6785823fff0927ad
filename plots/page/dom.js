// Elements and how numbers are written. Texts become text nodes, never markup.

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
};
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const significant = (value, digits) => {
  const text = Number(value).toPrecision(digits);
  return String(Number(text));
};
const duration = (ns, digits = 3) => {
  if (!Number.isFinite(ns)) return "–";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
    if (ns >= size * 0.9995) return `${significant(ns / size, digits)} ${unit}`;
  return `${significant(ns, digits)} ns`;
};
const amount = (value) => {
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (Math.abs(value) >= size) return `${significant(value / size, 3)}${unit}`;
  return significant(value, 3);
};
const times = (value) =>
  !Number.isFinite(value) ? "–" : value < 99.5 ? `${value.toFixed(2)}×` : `${amount(value)}×`;
const percent = (share) => (Number.isFinite(share) ? `${significant(100 * share, share < 0.1 ? 2 : 3)}%` : "–");
const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const plain = (value) =>
  typeof value === "string" ? value : value === null || value === undefined ? "–" : value.toLocaleString("en-US");

const table = (head, rows, attributes) =>
  h("div", { class: "table" }, h("table", attributes,
    h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col", class: cell.class, title: cell.title }, cell.text ?? cell)))),
    h("tbody", {}, rows)));
const number = (text, attributes) => h("td", { ...attributes, class: `n ${attributes?.class ?? ""}` }, text);
const choose = (label, options, value, changed) =>
  h("label", {}, h("span", {}, label),
    h("select", { change: (event) => changed(event.target.value), "aria-label": label },
      options.map(([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text ?? key))));
