// Times with their intervals over one feature, the others fixed.

/** Problems that differ in `name` alone (and in what is computed from it), most values first. */
const slices = (family, name) => {
  const others = [...family.numbers, ...family.words].filter((feature) => feature.name !== name);
  const groups = grouped(family.all.filter((p) => p.values.get(name) > 0),
    (p) => others.map((feature) => `${feature.name} ${plain(p.values.get(feature.name))}`).join(" · "));
  return [...groups].map(([key, problems]) => ({ key: key || "all problems", problems: problems.sort((a, b) => a.values.get(name) - b.values.get(name)) }))
    .sort((a, b) => b.problems.length - a.problems.length);
};

const timesPicture = (family, name, problems, relative, width) => {
  const scaled = (problem, time) => (relative ? time / problem.winner.time : time);
  const all = problems.flatMap((problem) => problem.best.filter((entry) => !relative || entry.time <= 20 * problem.winner.time)
    .map((entry) => ({ x: problem.values.get(name), y: scaled(problem, entry.time), low: scaled(problem, entry.low),
                       high: scaled(problem, entry.high), entry })));
  const points = grouped(all, (point) => point.entry.variant);
  const { root, atX, atY } = plot(width, Math.min(460, 240 + width / 5),
    { span: span(all.map((p) => p.x), 1.08), title: name, format: amount },
    { span: span(all.flatMap((p) => (hasInterval(p.entry) ? [p.low, p.high] : [p.y])), 1.1), title: relative ? "time over the fastest's" : "time, best configuration", format: relative ? times : (ns) => duration(ns) });
  for (const [variant, curve] of [...points].sort((a, b) => b[0] - a[0])) {
    const group = s("g", { class: `curve ${colour(variant)}` });
    if (curve.length > 1) group.append(s("polyline", { points: curve.map((p) => `${atX(p.x).toFixed(1)},${atY(p.y).toFixed(1)}`).join(" ") }));
    for (const p of curve)
      group.append(hasInterval(p.entry) ? s("line", { class: "interval", x1: atX(p.x), x2: atX(p.x), y1: atY(p.low), y2: atY(p.high) }) : "",
        s("circle", { class: p.entry.disturbed ? "disturbed" : undefined, cx: atX(p.x).toFixed(1), cy: atY(p.y).toFixed(1), r: 3 },
          s("title", {}, `${choiceText(family, p.entry)}: ${p.entry.disturbed ? "~ " : ""}${duration(p.entry.time)}, ${intervalText(p.entry)} at ${name} ${plain(p.x)}${p.entry.disturbed ? `; disturbed: ${p.entry.disturbed}` : ""}`)));
    root.append(group);
  }
  return { root, variants: [...points.keys()].sort((a, b) => a - b) };
};

const timesView = (family) => {
  const names = family.numbers.map((feature) => feature.name);
  if (!names.length) return null;
  let name = names.map((one) => [slices(family, one)[0]?.problems.length ?? 0, one]).sort((a, b) => b[0] - a[0])[0][1];
  let slice = 0, relative = false;
  const controls = h("div", { class: "controls" }), holder = h("div", { class: "picture" });
  const draw = () => {
    const all = slices(family, name).slice(0, 60);
    controls.replaceChildren(
      choose("over", names.map((one) => [one]), name, (one) => { name = one; slice = 0; draw(); }),
      choose("where", all.map((one, i) => [i, `${one.key} (${one.problems.length})`]), slice, (one) => { slice = Number(one); draw(); }),
      h("label", { class: "tick" }, h("input", { type: "checkbox", checked: relative, change: (event) => { relative = event.target.checked; draw(); } }), " over the fastest's"));
    if (!all.length) return;
    const { root, variants } = timesPicture(family, name, all[slice].problems, relative, pictureWidth());
    holder.replaceChildren(root, legend(family, variants), saved(root, `${family.name}-times`));
  };
  draw();
  redraw.push(draw);
  return figure("Times with their intervals", "Each variant with its best configuration at every point; bars are 95% intervals, often smaller than the dot; dots without any have none. Hollow dots were disturbed. Both axes are logarithmic. " +
    "Variants beyond the eight that win most are grey; point at a dot to see its name and time.", controls, holder);
};
