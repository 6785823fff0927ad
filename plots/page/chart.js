// What the pictures share: logarithmic axes whose labels keep apart, legends beside the picture, saving.

const LABEL = 12;  // px, as style.css has it
const widthOf = (text) => 0.62 * LABEL * text.length;

/** Marks of a logarithmic axis at 1, 2, 5 or at powers of ten, as many as have room. */
const logTicks = (low, high, length, room) => {
  const decades = Math.log10(high / low);
  const fits = (count) => (length / Math.max(decades, 1e-9)) * count >= room;
  const ticks = [];
  const fine = fits(0.3) && decades < 5;
  let stride = 1;
  while (!fits(stride)) ++stride;
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; ++power)
    for (const step of fine ? [1, 2, 5] : [1]) {
      const value = step * 10 ** power;
      const onStride = ((power % stride) + stride) % stride === 0;
      if (onStride && value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  return ticks.length ? ticks : [Math.sqrt(low * high)];
};

const logScale = (low, high, from, to) => (value) =>
  from + ((to - from) * Math.log(value / low)) / Math.log(high / low);

const span = (values, margin = 1.15) => {
  const finite = values.filter((value) => Number.isFinite(value) && value > 0);
  if (!finite.length) return null;
  const low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  return [low / margin, high * margin];
};

/** An empty picture with two logarithmic axes. `x` and `y` have span, title and format. */
const plot = (width, height, x, y) => {
  const labels = logTicks(...y.span, height - 60, 1.9 * LABEL);
  const left = 14 + Math.max(...labels.map((value) => widthOf(y.format(value))));
  const area = { left, right: width - 12, top: 26, bottom: height - 46 };
  const atX = logScale(...x.span, area.left, area.right), atY = logScale(...y.span, area.bottom, area.top);
  const longest = Math.max(...logTicks(...x.span, area.right - area.left, 1e-9).map((v) => widthOf(x.format(v))));
  const root = s("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": `${y.title} by ${x.title}` });
  for (const value of labels)
    root.append(s("line", { class: "grid", x1: area.left, x2: area.right, y1: atY(value), y2: atY(value) }),
                s("text", { x: area.left - 7, y: atY(value) + 4, "text-anchor": "end" }, y.format(value)));
  for (const value of logTicks(...x.span, area.right - area.left, longest + 14))
    root.append(s("line", { class: "grid", x1: atX(value), x2: atX(value), y1: area.top, y2: area.bottom }),
                s("text", { x: Math.min(atX(value), width - widthOf(x.format(value)) / 2 - 1), y: area.bottom + 18, "text-anchor": "middle" }, x.format(value)));
  root.append(s("text", { class: "title", x: 2, y: 14 }, y.title),
              s("text", { class: "title", x: area.right, y: height - 8, "text-anchor": "end" }, x.title));
  return { root, atX, atY, area };
};

const legend = (family, variants) =>
  h("ul", { class: "legend" }, variants.map((variant) =>
    h("li", {}, h("i", { class: `swatch ${colour(variant)}` }), family.variants[variant])));

/** Puts the legend's entries, which the page has beside the picture, below it into the picture's copy. */
const addLegend = (copy, entries) => {
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  let x = 8, y = height + LABEL;
  for (const entry of entries) {
    const text = entry.textContent.trim(), stroke = entry.querySelector("line"), room = (stroke ? 40 : 14) + widthOf(text) + 16;
    if (x > 8 && x + room > width) x = 8, y += 1.7 * LABEL;
    const hue = entry.querySelector(".swatch")?.className.replace("swatch", "").trim();
    if (hue) copy.append(s("rect", { class: hue, style: "fill: var(--c)", x, y: y - 9, width: 9, height: 9 }));
    if (stroke) copy.append(s("line", { class: "ceiling", "stroke-dasharray": stroke.getAttribute("stroke-dasharray") ?? "", x1: x, x2: x + 34, y1: y - 4, y2: y - 4 }));
    copy.append(s("text", { x: x + (stroke ? 40 : 14), y }, text));
    x += room;
  }
  copy.setAttribute("viewBox", `0 0 ${width} ${entries.length ? y + LABEL : height}`);
};

/** The picture as a file of its own: with its legend, and with the page's style sheet, so that it looks the same. */
const saved = (root, name) =>
  h("button", { type: "button", class: "quiet", click: () => {
    const copy = root.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    addLegend(copy, [...(root.closest("figure")?.querySelectorAll(".legend li") ?? [])]);
    copy.prepend(s("style", {}, document.querySelector("style").textContent));
    const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    h("a", { href: address, download: `${name}.svg` }).click();
    URL.revokeObjectURL(address);
  } }, "Save as SVG");

const figure = (title, caption, ...content) =>
  h("figure", {}, h("h3", {}, title), ...content, h("figcaption", {}, caption));
