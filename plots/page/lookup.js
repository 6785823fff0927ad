// "My problem": the measured problem, or the nearest ones, with what the library runs there. Nothing is estimated.

const NEAREST = 8;

const sameProblem = (family, values, problems) =>
  problems.find((p) => family.asked.every(({ name }) => p.values.get(name) === values.get(name)));

const typical = (family) => {
  const grid = family.problems.filter((p) => !p.unseen).sort((a, b) => a.winner.time - b.winner.time);
  return grid[Math.floor(grid.length / 2)] ?? family.problems[0];
};

/** What is on file of a problem: itself, if it was measured, and its nearest neighbours. */
const answer = (family, values) => {
  const exact = sameProblem(family, values, family.problems);
  return { exact, values, near: nearest(family, values).slice(0, NEAREST),
           alone: exact ? undefined : sameProblem(family, values, family.all),
           disturbed: exact ? undefined : sameProblem(family, values, family.disturbed) };
};

/** The command that says what the library runs for this very problem. */
const command = (family, device, values) => {
  const quoted = (text) => (/^[\w.,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const axes = family.features.filter(({ name, derived }) => !derived && (values.get(name) ?? "") !== "");
  return ["espalier explain --device", quoted(device), "--family", quoted(family.name),
          ...axes.map(({ name }) => `-p ${quoted(`${name}=${values.get(name)}`)}`)].join(" ");
};

const CLEAR = 1.02;  // a lead below that does not last from one day to the next
const HOPELESS = 3;  // so far behind the sweep stops after a few samples

const withIntervals = (problem) => hasInterval(problem.winner) && hasInterval(problem.own[1]);

const apart = (problem) => {
  const next = problem.own[1];
  return next.low > problem.winner.high && next.time > (withIntervals(problem) ? CLEAR : HOPELESS) * problem.winner.time;
};

const LEVELS = { sure: "Measured, clear", even: "Measured, a close call", scattered: "Measured, from too few or scattered samples",
                 disturbed: "Measured, but disturbed: nothing wins", alone: "Measured, nothing to compare", unmeasured: "Not measured" };

const level = ({ exact, alone, disturbed }) =>
  disturbed ? "disturbed" : alone ? "alone" : !exact ? "unmeasured" : !exact.own[1] ? "alone" : apart(exact) ? "sure" : withIntervals(exact) ? "even" : "scattered";

/** Which of the device's ceilings the least time comes from. */
const bound = (problem, ceilings) => {
  const least = [["memory traffic", problem.bytes / ceilings.memory], ["cache traffic", problem.bytes / ceilings.cache],
                 ["fp32 arithmetic", problem.ops / ceilings.fp32], ["integer arithmetic", problem.ops / ceilings.int32]]
    .map(([name, seconds]) => [name, seconds * 1e9]).filter(([, ns]) => Number.isFinite(ns) && ns > 0);
  least.sort((a, b) => Math.abs(Math.log(a[1] / problem.floor)) - Math.abs(Math.log(b[1] / problem.floor)));
  return least[0]?.[0];
};

const problemText = (family, problem) =>
  family.asked.map(({ name }) => `${name} ${plain(problem.values.get(name))}`).join(" · ") || "the one measured problem";

const chosen = (family, entry) => [h("i", { class: `swatch ${colour(entry.variant)}` }), choiceText(family, entry)];

const choiceCell = (family, entry) => h("td", {}, chosen(family, entry));

const conditions = (leaf) => (leaf.other ? "another leaf, because nothing of its own runs" : leaf.conditions || "every problem");

const leafPart = (leaf) => leaf && h("details", {}, h("summary", {}, "leaf"), h("span", { class: "code" }, conditions(leaf)));

const timesTable = (family, problem, ceilings) =>
  table(["variant", { text: "time", class: "n" }, { text: "interval", class: "n" }, { text: "over the fastest", class: "n" },
         { text: "roofline", class: "n", title: bound(problem, ceilings) }],
    [...problem.own, ...problem.disturbed].slice(0, NEAREST).map((entry) => h("tr", {}, choiceCell(family, entry),
      number(`${entry.disturbed ? "~ " : ""}${duration(entry.time)}`), number(entry.disturbed ? `disturbed: ${entry.disturbed}` : intervalText(entry)),
      number(times(entry.time / (problem.winner ?? entry).time)), number(percent(problem.floor / entry.time)))));

const countersTable = (family, problem) =>
  table(["variant", { text: "time", class: "n" }, ...family.counted.map(([label, , name]) => ({ text: label, title: name, class: "n wrap" }))],
    problem.own.filter((entry) => problem.counters.has(entry.variant)).map((entry) => h("tr", {}, choiceCell(family, entry), number(duration(entry.time)),
      problem.counters.get(entry.variant).map((value, i) => number(value === null ? "–" : `${amount(value)}${family.counted[i][1]}`)))),
    { class: "counters" });

/** The counters of the problem itself, or of the nearest one on which the fastest variant was counted, else any. */
const countersPart = (family, found) => {
  const { variant } = (found.exact ?? found.near[0].problem).winner;
  const counted = nearest(family, found.values).filter(({ problem }) => problem.own.some((entry) => problem.counters.has(entry.variant)));
  const own = counted.find(({ problem }) => problem.counters.has(variant)), one = own ?? counted[0];
  if (!one) return h("p", { class: "small muted" }, "No hardware counters were taken of this family here.");
  return h("details", { open: Boolean(own) }, h("summary", {}, `Hardware counters, ${one.distance.toFixed(1)} octaves away`),
    own ? null : h("p", {}, `No counters were taken of ${family.variants[variant]}.`),
    h("p", { class: "small muted" }, problemText(family, one.problem)), countersTable(family, one.problem));
};

const neighboursTable = (family, found) =>
  table([{ text: "octaves", class: "n" }, "fastest", { text: "time", class: "n" }, { text: "95% interval", class: "n" },
         { text: "next", class: "n" }, "the library runs", { text: "regret", class: "n" }, "from", "problem"],
    found.near.map(({ problem, distance }) => h("tr", {}, number(distance.toFixed(1)), choiceCell(family, problem.winner),
      number(duration(problem.winner.time)), number(hasInterval(problem.winner) ? `${duration(problem.winner.low)} – ${duration(problem.winner.high)}` : intervalText(problem.winner)),
      number(problem.own[1] ? times(problem.own[1].time / problem.winner.time) : "–"),
      problem.pick ? h("td", {}, chosen(family, problem.pick), leafPart(problem.pick.leaf)) : h("td", {}, "–"),
      number(Number.isFinite(problem.regret) ? problem.regret.toFixed(3) : "–", { title: problem.pick?.reason }),
      h("td", { class: "muted" }, problem.unseen ? "unseen" : "sweep"), h("td", { class: "code problem" }, problemText(family, problem)))));

const libraryParts = (family, device, found) => {
  const { pick, regret } = found.exact ?? {};
  const leaf = pick?.leaf;
  return [
    pick ? [h("p", { class: "big" }, chosen(family, pick)),
            h("p", {}, duration(pick.time ?? NaN), ", regret ", Number.isFinite(regret) ? regret.toFixed(3) : "–", pick.reason ? ` (${pick.reason})` : "")] : null,
    leaf ? h("p", { class: "small" }, `Leaf on ${plural(leaf.problems, "measured problem")}${leaf.device === device.key ? "" : ` of ${leaf.device}`}: `,
             h("span", { class: "code" }, conditions(leaf))) : null,
    h("p", { class: "small muted" }, "The program answers for this very problem:"),
    h("p", { class: "code command" }, command(family, device.key, found.values)),
  ];
};

const answerParts = (family, device, found) => {
  const here = found.exact ?? found.alone ?? found.disturbed;
  const fastest = here?.winner, limit = here ? bound(here, device.ceilings) : undefined;
  const how = level(found);
  return [
    h("p", { class: "paper" }, family.asked.map(({ name }) => `${name} ${plain(found.values.get(name))}`).join(" · ")),
    h("div", { class: "cards" },
      h("div", { class: "card" }, h("h4", {}, "Fastest"),
        h("p", { class: `big level ${how}` }, LEVELS[how]),
        fastest ? [h("p", { class: "big" }, chosen(family, fastest)),
                   h("p", {}, h("b", { class: "big" }, duration(fastest.time)), ` ${intervalText(fastest)}`)]
          : h("p", {}, here ? "The values are marked ~." : `The nearest measured problem is ${found.near[0].distance.toFixed(1)} octaves away.`),
        here?.unseen ? h("p", { class: "small muted" }, "An unseen problem: no tree was trained on it.") : null,
        limit ? h("p", { class: "small muted" }, `The roofline is set by ${limit}.`) : null,
        here?.transfer > 0 ? h("p", { class: "small muted" }, `Copies between host and device: ${duration(here.transfer, 2)}.`) : null),
      h("div", { class: "card" }, h("h4", {}, "What the library runs"), ...libraryParts(family, device, found).flat())),
    here ? [h("h4", {}, "This problem"), timesTable(family, here, device.ceilings)] : null,
    countersPart(family, found),
    h("h4", {}, "The nearest measured problems"), neighboursTable(family, found),
  ].flat();
};

const nothingWon = (family) =>
  h("div", { class: "notice", role: "note" }, h("b", {}, LEVELS.disturbed),
    h("p", {}, `All ${plural(family.disturbed.length, "problem")} of this family with a time ${family.disturbed.length === 1 ? "was" : "were"} disturbed: ${family.disturbed[0].disturbed[0].disturbed}. ` +
      "Which variant is the fastest is not known; the values below are marked ~. Sweep again on a quiet machine."));

const lookup = (family, device, changed) => {
  const start = typical(family);
  const values = new Map(family.features.map(({ name }) => [name, start.values.get(name)]));
  const result = h("div", { "aria-live": "polite" });
  const set = (name, value) => {
    values.set(name, value);
    update();
  };
  const update = () => {
    const found = answer(family, values);
    result.replaceChildren(...answerParts(family, device, found).filter(Boolean));
    changed(found);
  };
  const inputs = family.asked.map(({ name, words }) => (words
    ? choose(name, words.map((word) => [word, word || "default"]), values.get(name), (word) => set(name, word))
    : h("label", {}, h("span", {}, name), h("input", { type: "number", min: 0, step: "any", inputmode: "numeric", value: values.get(name),
        input: (event) => event.target.valueAsNumber >= 0 && set(name, event.target.valueAsNumber) }))));
  update();
  return h("div", { class: "lookup" }, h("h3", {}, "My problem"), h("form", { submit: (event) => event.preventDefault() }, inputs), result);
};
