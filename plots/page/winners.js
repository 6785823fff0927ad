// Who wins where: a map over two features.

const MOST_COLUMNS = 9;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** What a feature's values are sorted into: the values, or ranges between powers of two if they are many. */
const bins = (family, name, most) => {
  const feature = family.features.find((f) => f.name === name);
  if (feature.words) return { of: (value) => value, labels: new Map(feature.words.map((word) => [word, word || "default"])) };
  const values = [...new Set(family.problems.map((p) => p.values.get(name)))].sort((a, b) => a - b);
  if (values.length <= most) return { of: (value) => value, labels: new Map(values.map((value) => [value, amount(value)])) };
  const low = Math.floor(Math.log2(Math.max(values[0], 1))), high = Math.log2(Math.max(values.at(-1), 1));
  const step = Math.max(1, Math.ceil((high - low + 1e-9) / most));
  const of = (value) => Math.floor((Math.log2(Math.max(value, 1)) - low) / step);
  const labels = new Map();
  for (let bin = 0; bin <= of(values.at(-1)); ++bin) labels.set(bin, `≥ ${amount(2 ** (low + bin * step))}`);
  return { of, labels };
};

/** How often each variant wins, the most frequent first. */
const winsOf = (problems) =>
  [...grouped(problems, (p) => p.winner.variant)].map(([variant, won]) => [variant, won.length]).sort((a, b) => b[1] - a[1]);

/** Bits that it takes to say who wins each of the problems. */
const entropy = (problems) => -winsOf(problems).reduce((sum, [, n]) => sum + n * Math.log2(n / problems.length), 0);

/** The two features that together tell most about who wins. */
const bestAxes = (family) => {
  const names = [...family.numbers, ...family.derived, ...family.words].map((feature) => feature.name);
  const left = (pair) => {
    const sorted = pair.map((name) => bins(family, name, MOST_COLUMNS));
    const cells = grouped(family.problems, (p) => pair.map((name, i) => sorted[i].of(p.values.get(name))).join("|"));
    return [...cells.values()].reduce((sum, problems) => sum + entropy(problems) + 1, 0);  // a cell costs a bit
  };
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
  const best = pairs.map((pair) => [left(pair), pair]).sort((a, b) => a[0] - b[0])[0];
  return best ? best[1] : [names[0], undefined];
};

const winners = (family) => {
  const axes = bestAxes(family);
  if (axes[0] === undefined) return null;
  const isWord = (name) => family.words.some((feature) => feature.name === name);
  if (isWord(axes[0]) && axes[1] !== undefined && !isWord(axes[1])) axes.reverse();
  const only = new Map();
  const holder = h("div");
  const names = [...family.numbers, ...family.derived, ...family.words].map((feature) => [feature.name]);
  const draw = () => {
    const [x, y] = axes;
    const columns = bins(family, x, MOST_COLUMNS), rows = y === "" || y === undefined ? { of: () => 0, labels: new Map([[0, ""]]) } : bins(family, y, 12);
    const shown = family.problems.filter((p) => [...only].every(([name, word]) => p.values.get(name) === word));
    const cells = grouped(shown, (p) => `${columns.of(p.values.get(x))}|${rows.of(p.values.get(y))}`);
    const wins = winsOf(shown), order = wins.map(([variant]) => variant);
    const letter = (variant) => LETTERS[order.indexOf(variant)] ?? "·";
    const cell = (problems) => {
      if (!problems) return h("td", { class: "none" });
      const counts = winsOf(problems), [variant, count] = counts[0];
      const leads = problems.filter((p) => p.winner.variant === variant && p.own[1]).map((p) => p.own[1].time / p.winner.time);
      const others = counts.slice(1).map(([v, n]) => `${family.variants[v]} ${n}`).join(", ");
      return h("td", { class: `${colour(variant)} ${count < problems.length ? "mixed" : ""}`,
                       title: `${family.variants[variant]} wins ${count} of ${problems.length}${others ? `; ${others}` : ""}` },
        h("b", {}, letter(variant)), leads.length ? ` ${times(geometricMean(leads))}` : "", h("br"), h("small", {}, `${count}/${problems.length}`));
    };
    const used = (labels, side) => [...labels].filter(([bin]) => [...cells.keys()].some((key) => key.split("|")[side] === String(bin)));
    const shownColumns = used(columns.labels, 0);
    holder.replaceChildren(
      h("div", { class: "table" }, h("table", { class: "map" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, y ? `${y} ↓  ${x} →` : `${x} →`), shownColumns.map(([, label]) => h("th", { scope: "col" }, label)))),
        h("tbody", {}, used(rows.labels, 1).map(([bin, label]) =>
          h("tr", {}, h("th", { scope: "row" }, label), shownColumns.map(([column]) => cell(cells.get(`${column}|${bin}`)))))))),
      h("ul", { class: "legend" }, wins.map(([variant, won]) =>
        h("li", {}, h("i", { class: `swatch ${colour(variant)}` }), `${letter(variant)}  ${family.variants[variant]}`, h("span", { class: "muted" }, ` ${won}`)))));
  };
  const controls = h("div", { class: "controls" },
    choose("across", names, axes[0], (name) => { axes[0] = name; draw(); }),
    choose("down", [["", "nothing"], ...names], axes[1] ?? "", (name) => { axes[1] = name; draw(); }),
    family.words.map(({ name, words }) => choose(name, [["*", "all"], ...words.map((word) => [word, word || "default"])], "*", (word) => {
      word === "*" ? only.delete(name) : only.set(name, word);
      draw();
    })));
  draw();
  const alone = family.all.length - family.problems.length;
  return figure("Who wins where", "Letter: the variant that wins most problems of the cell; its mean lead over the next variant; problems won of those measured, unseen ones too. " +
    "Paler cells have more than one winner. The first two features shown are those that tell most about who wins." +
    (alone ? ` Left out: ${plural(alone, "problem")} on which one variant alone was timed.` : "") +
    (family.disturbed.length ? ` Left out: ${plural(family.disturbed.length, "problem")} on which everything was disturbed.` : ""), controls, holder);
};
