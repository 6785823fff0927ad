// The roofline: what the fastest reaches of what the device can do.

const LINES = [["memory", "memory bandwidth", ""], ["cache", "cache bandwidth", "4 4"], ["fp32", "fp32 peak", "8 3"], ["int32", "int32 peak", "1 4"]];

const roofline = (family, device) => {
  const { ceilings } = device;
  const points = family.problems.filter((p) => p.bytes > 0 && p.ops > 0)
    .map((problem) => ({ problem, x: problem.ops / problem.bytes, y: (problem.ops / problem.winner.time) * 1e9 }));
  if (!points.length || !ceilings.memory) return null;
  const holder = h("div", { class: "picture" });
  const draw = () => {
    const xs = span(points.map((p) => p.x), 2);
    const tops = LINES.slice(2).map(([key]) => ceilings[key]).filter(Boolean);
    const ys = span([...points.map((p) => p.y), Math.min(Math.max(...tops, 0) || Infinity, xs[1] * Math.max(ceilings.memory, ceilings.cache ?? 0))], 1.6);
    const { root, atX, atY, area } = plot(pictureWidth(), Math.min(440, 240 + pictureWidth() / 6), { span: xs, title: "operations per byte", format: amount },
                                    { span: ys, title: "operations per second", format: amount });
    for (const [key, , dash] of LINES) {
      if (!ceilings[key]) continue;
      const slope = key === "memory" || key === "cache";
      const from = slope ? [Math.max(xs[0], ys[0] / ceilings[key]), 0] : [xs[0], ceilings[key]];
      const to = slope ? [Math.min(xs[1], ys[1] / ceilings[key]), 0] : [xs[1], ceilings[key]];
      if (slope) { from[1] = from[0] * ceilings[key]; to[1] = to[0] * ceilings[key]; }
      if (from[0] > to[0] || from[1] > ys[1]) continue;
      root.append(s("line", { class: "ceiling", "stroke-dasharray": dash, x1: atX(from[0]), y1: atY(from[1]), x2: atX(to[0]), y2: atY(to[1]) }));
    }
    for (const { problem, x, y } of points)
      root.append(s("circle", { class: `spot ${colour(problem.winner.variant)}`, cx: atX(x).toFixed(1), cy: Math.max(area.top, atY(y)).toFixed(1), r: problem.unseen ? 2.5 : 3.5 },
        s("title", {}, `${choiceText(family, problem.winner)}: ${amount(y)} operations/s, ${percent(problem.floor / problem.winner.time)} of the roofline; ${problemText(family, problem)}`)));
    const variants = [...new Set(points.map((p) => p.problem.winner.variant))].sort((a, b) => a - b);
    holder.replaceChildren(root, h("ul", { class: "legend" }, LINES.filter(([key]) => ceilings[key]).map(([key, label, dash]) =>
      h("li", {}, s("svg", { class: "stroke", width: 34, height: 10, "aria-hidden": "true" }, s("line", { class: "ceiling", "stroke-dasharray": dash, x1: 0, x2: 34, y1: 5, y2: 5 })),
        ` ${label} ${amount(ceilings[key])}${key === "memory" || key === "cache" ? "B/s" : "/s"}`))), legend(family, variants), saved(root, `${family.name}-roofline`));
  };
  draw();
  redraw.push(draw);
  return figure("Roofline", "Each dot is a problem with its fastest variant; small ones are unseen problems. Bytes and operations are the least that any variant needs, so a dot above a line had its data in a faster " +
    "memory. Ceilings were measured on this device. Far below both lines something else limits: launches, latency, on-chip memory or serial work.", holder);
};
