// "My problem": what runs, how long it takes, why, and how sure that is.

const AGREES = 1.05;  // a choice that lies so little behind the best is as good as the best

const sameProblem = (family, values, problems = family.problems) =>
  problems.find((p) => family.asked.every(({ name }) => {
    const value = values.get(name);
    return value === undefined || p.values.get(name) === value;
  }));

const typical = (family) => {
  const grid = family.problems.filter((p) => !p.unseen).sort((a, b) => a.winner.time - b.winner.time);
  return grid[Math.floor(grid.length / 2)] ?? family.problems[0];
};

/** The first of a leaf's choices that had a time on the problem itself or on one of the three nearest: `supports()` is
 *  not asked here, but what it refuses has none. */
const runnable = (leaf, exact, near) => {
  const places = exact ? [exact] : near.slice(0, 3).map((one) => one.problem);
  const choices = leaf.ranking.map(([variant, configuration]) => ({ variant, configuration }));
  return choices.find(({ variant }) => places.some((p) => p.own.some((entry) => entry.variant === variant))) ?? choices[0];
};

/** What is known of a problem: the measurement or an estimate, what the tree runs, and its nearest neighbours. */
const answer = (family, asked) => {
  const exact = sameProblem(family, asked);
  const near = nearest(family, asked).slice(0, 8);
  const values = withDerived(family, asked, near[0]?.problem);
  const path = family.tree ? pathOf(family.tree, values) : [];
  const leaf = path.length ? family.tree[path.at(-1)] : null;
  const chosen = leaf ? runnable(leaf, exact, near) : near[0].problem.winner;
  const judged = near.map(({ problem }) => problem.own.find((entry) => entry.variant === chosen.variant)?.time / problem.winner.time)
                     .filter(Number.isFinite);
  const alone = exact ? undefined : sameProblem(family, asked, family.all);
  const disturbed = exact ?? alone ? undefined : sameProblem(family, asked, family.disturbed);
  return { exact, alone, disturbed, near, values, path, leaf, chosen, judged, estimated: exact ? null : estimate(family, values) };
};

const SHORT = 1e4;  // ns: a few times what it takes to start a kernel and to wait for it

const CLEAR = 1.02;  // a lead below that does not last from one day to the next
const HOPELESS = 3;  // so far behind the sweep stops after a few samples

const withIntervals = (problem) => hasInterval(problem.winner) && hasInterval(problem.own[1]);

const apart = (problem) => {
  const next = problem.own[1];
  return Boolean(next) && next.low > problem.winner.high &&
    next.time > (withIntervals(problem) ? CLEAR : HOPELESS) * problem.winner.time;
};

/** What is said of a problem that was measured. */
const measuredReasons = (family, exact) => {
  const next = exact.own[1];
  const draw = exact.unseen ? ", as an unseen problem that no tree was trained on" : "";
  const lead = next ? times(next.time / exact.winner.time) : "";
  const reasons = [`This very problem was measured${draw}; ` + (!next ? "no other variant was timed."
    : `the next variant, ${family.variants[next.variant]}, takes ${lead} as long, ` +
      (!withIntervals(exact) ? (apart(exact) ? "and no sample of one is among the other's." : "and there are too few samples, or they scatter too much, to say more.")
       : apart(exact) ? "and the intervals do not touch." : "so that on another day either may be faster."))];
  if (exact.disturbed.length)
    reasons.push(`Left out, because they were disturbed (${exact.disturbed[0].disturbed}): ${exact.disturbed.map((entry) => `${family.variants[entry.variant]} ~ ${duration(entry.time)}`).join(", ")}.`);
  return reasons;
};

const measuredLevel = (exact) =>
  !exact.own[1] ? "alone" : apart(exact) ? "sure" : withIntervals(exact) ? "even" : "scattered";

/** How sure: a level and its reasons. */
const verdict = (family, found) => {
  const { exact, near, leaf, judged } = found;
  const agree = judged.filter((slowdown) => slowdown <= AGREES).length;
  const reasons = [];
  if (exact) {
    reasons.push(...measuredReasons(family, exact));
  } else {
    const how = near[0].distance < 0.5 ? "almost the same sizes" : near[0].distance < 1.5 ? "sizes within about a factor of two"
                                                                                          : "rather different sizes";
    const { alone, disturbed } = found, marked = disturbed?.disturbed[0];
    reasons.push((alone ? `Only ${family.variants[alone.winner.variant]} was timed on this very problem, ${duration(alone.winner.time)}.`
                  : marked ? `This very problem was measured, but disturbed: ${marked.disturbed}. Its values win nothing; the fastest was ~ ${choiceText(family, marked)}, ~ ${duration(marked.time)}.`
                  : "It was not measured.") + ` The nearest measured problem has ${how} (${near[0].distance.toFixed(1)} octaves away).`);
  }
  if (judged.length) reasons.push(`${family.variants[found.chosen.variant]} is the fastest, or within 5% of it, on ${agree} of the ${plural(judged.length, "nearest measured problem")} where it was timed.`);
  if (leaf) {
    const interval = leaf.regret_lo ? ` [${leaf.regret_lo.toFixed(3)}, ${leaf.regret_hi.toFixed(3)}]` : "";
    reasons.push(`The tree's leaf rests on ${leaf.problems === undefined ? "an unknown number of measured problems" : plural(leaf.problems, "measured problem")}` +
      (leaf.regret ? `; regret there ${leaf.regret.toFixed(3)}${interval}` : "") +
      (leaf.held_out_worst ? `, at worst ${leaf.held_out_worst.toFixed(2)} on a problem held out` : "") + ".");
  }
  const regrets = near.map(({ problem }) => problem.regret).filter(Number.isFinite);
  if (regrets.length)
    reasons.push(`On these neighbours the tree's regret is ${geometricMean(regrets).toFixed(3)} in the mean, ${Math.max(...regrets).toFixed(2)} at worst.`);
  const alike = judged.length >= 4 && agree >= 0.75 * judged.length;
  const level = exact ? measuredLevel(exact) : found.disturbed ? "disturbed" : near[0].distance < 1.5 && alike && (leaf?.problems ?? 9) >= 5 ? "likely" : "unsure";
  return { level, reasons };
};

const LEVELS = { sure: "Measured, clear", even: "Measured, a close call", scattered: "Measured, from too few or scattered samples",
                 disturbed: "Measured, but disturbed: nothing wins", alone: "Measured, nothing to compare", likely: "Likely: the neighbours agree",
                 unsure: "Unsure: measure it" };

/** Which of the device's ceilings the least time comes from. */
const bound = (problem, ceilings) => {
  const least = [["memory traffic", problem.bytes / ceilings.memory], ["cache traffic", problem.bytes / ceilings.cache],
                 ["fp32 arithmetic", problem.ops / ceilings.fp32], ["integer arithmetic", problem.ops / ceilings.int32]]
    .map(([name, seconds]) => [name, seconds * 1e9]).filter(([, ns]) => Number.isFinite(ns) && ns > 0);
  least.sort((a, b) => Math.abs(Math.log(a[1] / problem.floor)) - Math.abs(Math.log(b[1] / problem.floor)));
  return least[0]?.[0];
};

const countedEntries = (problem) => problem.own.filter((entry) => problem.counters.has(entry.variant));

/** The three counters in which a variant differs most from the fastest of the others that were counted. */
const differences = (family, problem, variant) => {
  const entries = countedEntries(problem);
  const counted = [entries.find((entry) => entry.variant === variant)];
  counted.push(entries.find((entry) => entry !== counted[0]));
  if (!counted[1]) return "";
  const [a, b] = counted.map((entry) => problem.counters.get(entry.variant));
  const least = { "%": 5, "×": 0.2, "": 0.1 };  // smaller differences explain nothing
  const change = (i, least) => Math.abs(Math.log((a[i] + least) / (b[i] + least)));
  const found = family.counted.map(([label, unit], i) => ({ label, unit, a: a[i], b: b[i], change: change(i, least[unit]) }))
    .filter((one) => one.a !== null && one.b !== null && one.change > Math.log(1.25)).sort((x, y) => y.change - x.change).slice(0, 3);
  if (!found.length) return "";
  const list = found.map((one) => `${one.label} ${amount(one.a)}${one.unit} against ${amount(one.b)}${one.unit}`).join("; ");
  const next = problem.own.find((entry) => entry.variant !== variant);
  const uncounted = problem.counters.has(next.variant) ? "" : ` ${family.variants[next.variant]}, the next, was not counted.`;
  const faster = counted[0].time > CLEAR * counted[1].time ? ", which is faster there" : "";
  return `${family.variants[counted[0].variant]} beside ${family.variants[counted[1].variant]}${faster}: ${list}.${uncounted}`;
};

const problemText = (family, problem) =>
  family.asked.map(({ name }) => `${name} ${plain(problem.values.get(name))}`).join(" · ") || "the one measured problem";

const countersTable = (family, problem) => {
  const rows = countedEntries(problem);
  return table(["variant", { text: "time", class: "n" }, ...family.counted.map(([label, , name]) => ({ text: label, title: name, class: "n wrap" }))],
    rows.map((entry) => h("tr", {}, h("th", { scope: "row", class: "name" }, h("i", { class: `swatch ${colour(entry.variant)}` }), choiceText(family, entry)),
      number(duration(entry.time)),
      problem.counters.get(entry.variant).map((value, i) => number(value === null ? "–" : `${amount(value)}${family.counted[i][1]}`)))),
    { class: "counters" });
};

/** Why, from the exact problem or the nearest one that counters were taken of. */
const whyParts = (family, found, ceilings) => {
  const here = found.exact ?? found.near[0].problem;
  const parts = [];
  if (here.floor > 0) {
    const share = here.floor / here.winner.time, limit = bound(here, ceilings);
    parts.push(`The fastest reaches ${percent(share)} of the roofline${limit ? `, which is set by ${limit} here` : ""}` +
      (share > 0.6 ? ": little is left to gain" : share > 0.1 ? "" : here.winner.time < SHORT ? ": starting and waiting count in so short a time"
       : ": what limits it is none of the measured ceilings") + ".");
  }
  const { variant } = found.exact ? found.exact.winner : found.chosen;
  const near = nearest(family, found.values).filter(({ problem }) => countedEntries(problem).length);
  const own = near.find(({ problem }) => problem.counters.has(variant) && countedEntries(problem).length > 1) ??
    near.find(({ problem }) => problem.counters.has(variant)), withCounters = own ?? near[0];
  // Other variants' counters do not explain this one's time.
  const counters = own ? differences(family, own.problem, variant)
    : withCounters ? `No counters were taken of ${family.variants[variant]}.` : "";
  const far = withCounters?.distance > 0.01;
  if (own && far && counters) parts.push(`On the nearest problem on which it was counted, ${own.distance.toFixed(1)} octaves away,`);
  const content = [h("p", {}, parts.join(" "), " ", counters)];
  if (withCounters)
    content.push(h("details", { open: Boolean(own) },
      h("summary", {}, `Hardware counters${own ? (far ? " of the nearest problem on which it was counted" : "") : " of other variants, on the nearest problem that was counted"}`),
      h("p", { class: "small muted" }, problemText(family, withCounters.problem)), countersTable(family, withCounters.problem)));
  else content.push(h("p", { class: "small muted" }, "No hardware counters were taken of this family here."));
  return content;
};

const neighboursTable = (family, found) =>
  table([{ text: "octaves", class: "n" }, "fastest", { text: "time", class: "n" }, { text: "95% interval", class: "n" },
         { text: "next", class: "n" }, { text: "tree's regret", class: "n" }, "from", "problem"],
    found.near.map(({ problem, distance }) => h("tr", {}, number(distance.toFixed(1)),
      h("td", {}, h("i", { class: `swatch ${colour(problem.winner.variant)}` }), choiceText(family, problem.winner)),
      number(duration(problem.winner.time)), number(hasInterval(problem.winner) ? `${duration(problem.winner.low)} – ${duration(problem.winner.high)}` : intervalText(problem.winner)),
      number(problem.own[1] ? times(problem.own[1].time / problem.winner.time) : "–"),
      number(Number.isFinite(problem.regret) ? problem.regret.toFixed(3) : "–"),
      h("td", { class: "muted" }, problem.unseen ? "unseen" : "sweep"), h("td", { class: "code problem" }, problemText(family, problem)))));

const timeText = (found) => {
  if (found.exact)
    return [h("b", { class: "big" }, duration(found.exact.winner.time)),
            ` ${intervalText(found.exact.winner)}`];
  if (!found.estimated) return [h("span", {}, "no estimate: fewer than four problems of this kind were measured")];
  const { time, factor, count } = found.estimated;
  return [h("b", { class: "big" }, `≈ ${duration(time, 2)}`),
          ` expected within ${duration(time / factor, 2)} – ${duration(time * factor, 2)}, from the ${count} nearest measured problems`];
};

const answerParts = (family, found, ceilings) => {
  const { level, reasons } = verdict(family, found);
  const fastest = found.exact ? found.exact.winner : null;
  const same = fastest && fastest.variant === found.chosen.variant && fastest.configuration === found.chosen.configuration;
  const transfer = (found.exact ?? found.near[0].problem).transfer;
  return [
    h("p", { class: "paper" }, family.asked.map(({ name }) => `${name} ${plain(found.values.get(name))}`).join(" · ")),
    h("div", { class: "cards" },
      h("div", { class: "card" }, h("h4", {}, found.exact ? "Fastest" : "Fastest, most likely"),
        h("p", { class: "big" }, h("i", { class: `swatch ${colour((fastest ?? found.chosen).variant)}` }), choiceText(family, fastest ?? found.chosen)),
        h("p", {}, timeText(found)),
        transfer > 0 ? h("p", { class: "small muted" }, `Copies between host and device would add about ${duration(transfer, 2)}.`) : null),
      h("div", { class: "card" }, h("h4", {}, "How sure?"), h("p", { class: `big level ${level}` }, LEVELS[level]),
        h("ul", { class: "small" }, reasons.map((reason) => h("li", {}, reason)))),
      h("div", { class: "card" }, h("h4", {}, "What the library runs"),
        found.leaf ? [h("p", {}, h("b", {}, choiceText(family, found.chosen)),
            found.chosen.variant === found.leaf.ranking[0][0] ? "" : `, because ${family.variants[found.leaf.ranking[0][0]]} cannot run such problems`,
            same ? ": the fastest measured." : Number.isFinite(found.exact?.regret) ? `: ${times(found.exact.regret)} the fastest measured.` : "."),
          h("p", { class: "small" }, found.path.length > 1 ? "Because " : "It always runs this one.", found.path.slice(1).map((place, i) => {
            const parent = family.tree[found.path[i]];
            return [i ? " and " : "", h("span", { class: "code" }, place === found.path[i] + 1 ? parent.condition : parent.opposite)];
          }))] : h("p", { class: "muted" }, "No tree was trained here."))),
    h("h4", {}, "Why?"), ...whyParts(family, found, ceilings),
    h("h4", {}, "The nearest measured problems"), neighboursTable(family, found),
  ];
};

const nothingWon = (family) =>
  h("div", { class: "notice", role: "note" }, h("b", {}, LEVELS.disturbed),
    h("p", {}, `All ${plural(family.disturbed.length, "problem")} of this family with a time ${family.disturbed.length === 1 ? "was" : "were"} disturbed: ${family.disturbed[0].disturbed[0].disturbed}. ` +
      "Which variant is the fastest is not known; the values below are marked ~. Sweep again on a quiet machine."));

const lookup = (family, device, asked, changed) => {
  const start = typical(family);
  const values = new Map(family.features.map(({ name }) => [name, asked?.get(name) ?? start.values.get(name)]));
  const result = h("div", { "aria-live": "polite" });
  const update = () => {
    // A feature that nobody can compute from the others is as in the nearest problem, unless it was given.
    for (const { name, derived } of family.features) if (derived && !given.has(name)) values.delete(name);
    const found = answer(family, new Map(values));
    result.replaceChildren(...answerParts(family, found, device.ceilings));
    changed(found, new Map(values));
  };
  const given = new Set();
  const inputs = family.asked.map((feature) => {
    if (feature.words)
      return choose(feature.name, feature.words.map((word) => [word, word || "default"]), values.get(feature.name),
                    (word) => { values.set(feature.name, word); update(); });
    return h("label", {}, h("span", {}, feature.name), h("input", { type: "number", min: 0, step: "any", inputmode: "numeric",
      value: feature.derived ? undefined : values.get(feature.name), placeholder: feature.derived ? "as the nearest" : undefined,
      input: (event) => {
        const value = event.target.valueAsNumber;
        if (!(value >= 0)) {
          if (feature.derived) given.delete(feature.name), update();
          return;
        }
        given.add(feature.name);
        values.set(feature.name, value);
        update();
      } }));
  });
  update();
  return h("div", { class: "lookup" }, h("h3", {}, "My problem"), h("form", { submit: (event) => event.preventDefault() }, inputs), result);
};
