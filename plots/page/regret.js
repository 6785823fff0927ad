// The tree's regret, problem by problem, the best first.

const regretView = (family) => {
  const kinds = [["measured problems", false, "s0"], ["unseen problems", true, "s1"]].map(([label, unseen, hue]) =>
    ({ label, hue, unseen, problems: family.all.filter((p) => p.unseen === unseen && Number.isFinite(p.regret)).sort((a, b) => a.regret - b.regret) }))
    .filter((kind) => kind.problems.length > 1);
  if (!kinds.length) return null;
  const holder = h("div", { class: "picture" });
  const draw = () => {
    const width = pictureWidth(), height = 240;
    const worst = Math.max(1.2, ...kinds.map((kind) => kind.problems.at(-1).regret));
    const ticks = [1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100].filter((value) => value <= worst * 1.001);
    const area = { left: 54, right: width - 20, top: 26, bottom: height - 46 };
    const atX = (share) => area.left + share * (area.right - area.left);
    const depth = (regret) => Math.sqrt(Math.log(Math.max(1, regret)));  // spreads what is near 1
    const atY = (regret) => area.bottom - (depth(regret) / depth(worst)) * (area.bottom - area.top);
    const root = s("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "regret by share of the problems" });
    let above = Infinity;
    for (const value of ticks) {
      if (above - atY(value) < 1.5 * LABEL) continue;
      above = atY(value);
      root.append(s("line", { class: "grid", x1: area.left, x2: area.right, y1: above, y2: above }),
                  s("text", { x: area.left - 7, y: above + 4, "text-anchor": "end" }, `${value}×`));
    }
    for (const share of width < 500 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 0.9, 1])
      root.append(s("line", { class: "grid", x1: atX(share), x2: atX(share), y1: area.top, y2: area.bottom }),
                  s("text", { x: atX(share), y: area.bottom + 18, "text-anchor": "middle" }, `${100 * share}%`));
    root.append(s("text", { class: "title", x: 2, y: 14 }, "regret"), s("text", { class: "title", x: area.right, y: height - 8, "text-anchor": "end" }, "share of the problems"));
    for (const { problems, hue } of kinds)
      root.append(s("g", { class: `curve ${hue}` }, s("polyline", { points: problems.map((p, i) => `${atX((i + 0.5) / problems.length).toFixed(1)},${atY(p.regret).toFixed(1)}`).join(" ") }),
        problems.filter((p) => p.regret > 1.2).map((p) => s("circle", { cx: atX((problems.indexOf(p) + 0.5) / problems.length).toFixed(1), cy: atY(p.regret).toFixed(1), r: 2.5 },
          s("title", {}, `${p.regret.toFixed(2)}: ${problemText(family, p)}`)))));
    holder.replaceChildren(root, h("ul", { class: "legend" }, kinds.map(({ label, hue, problems }) =>
      h("li", {}, h("i", { class: `swatch ${hue}` }), `${label}: ${problems.length}, mean ${geometricMean(problems.map((p) => p.regret)).toFixed(3)}`))), saved(root, `${family.name}-regret`));
  };
  draw();
  redraw.push(draw);
  const worst = kinds.at(-1).problems.slice(-5).reverse();
  const alone = kinds.map(({ label, problems }) => ({ label, some: problems, rest: problems.filter((p) => p.own.length > 1) }))
    .filter(({ some, rest }) => rest.length && rest.length < some.length)
    .map(({ label, some, rest }) => ` On ${some.length - rest.length} of the ${label} one variant alone was timed; the mean of the others is ${geometricMean(rest.map((p) => p.regret)).toFixed(3)}.`);
  return figure("Regret problem by problem", `How much longer than the best the tree's choice takes, sorted.${alone.join("")}`, holder,
    h("details", {}, h("summary", {}, `The five worst ${kinds.at(-1).label}`),
      table(["problem", { text: "regret", class: "n" }, "fastest", { text: "time", class: "n" }], worst.map((p) => h("tr", {}, h("td", { class: "code" }, problemText(family, p)),
        number(p.regret.toFixed(2)), h("td", {}, choiceText(family, p.winner)), number(duration(p.winner.time)))))));
};
