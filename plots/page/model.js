// One family on one device, from the columns that page_data.py wrote.

const readProblems = (part, data, unseen) => {
  const apart = new Set(part.apart);  // peers, and what failed anywhere: never chosen
  return part.best.map((flat, row) => {
    const values = new Map(data.features.map((feature, i) => {
      const value = part.features[i][row];
      return [feature.name, feature.words ? feature.words[value] : value];
    }));
    const best = [];
    for (let i = 0; i < flat.length; i += 5) {
      const time = flat[i + 2];
      best.push({ variant: flat[i], configuration: flat[i + 1], time,
                  low: time * (1 - flat[i + 3] / 1000), high: time * (1 + flat[i + 4] / 1000),
                  disturbed: part.disturbed?.[row]?.[flat[i]] ?? "", few: (part.few?.[row] || []).includes(flat[i]) });
    }
    const counters = part.counters?.[row] || [];
    const choices = best.filter((entry) => !apart.has(entry.variant));
    const own = choices.filter((entry) => !entry.disturbed);  // disturbed ones win nothing
    const [variant, configuration, time, leaf, reason = ""] = part.pick[row] || [];
    const pick = variant === undefined ? null : { variant, configuration, time, reason, leaf: data.leaves[leaf] };
    return { values, best, own, winner: own[0], disturbed: choices.filter((entry) => entry.disturbed), unseen, floor: part.floor[row], bytes: part.cost[row][0], ops: part.cost[row][1],
             transfer: part.transfer[row], pick, regret: part.regret[row],
             counters: new Map(counters.map(([variant, ...counts]) => [variant, counts])) };
  });
};

const readFamily = (data, name) => {
  const problems = [...readProblems(data.grid, data, false), ...(data.unseen ? readProblems(data.unseen, data, true) : [])];
  // Where one variant alone was timed it has beaten nobody, unless nothing in the family was ever compared.
  const all = problems.filter((problem) => problem.winner), compared = all.filter((problem) => problem.own.length > 1);
  const varying = data.features.filter((f) => new Set(problems.map((problem) => problem.values.get(f.name))).size > 1);
  return {
    name, all, disturbed: problems.filter((problem) => !problem.winner && problem.disturbed.length), problems: compared.length ? compared : all, features: data.features,
    counted: data.grid.counted ?? [], variants: data.variants, configurations: data.configurations,
    numbers: varying.filter((f) => !f.words && !f.derived), derived: varying.filter((f) => f.derived), words: varying.filter((f) => f.words),
    asked: varying.filter((f) => !f.derived),
  };
};

const WIDEST = 2;  // as harness/bench/records/interval.hpp: ends further from the median make no interval
const hasInterval = (entry) => !entry.few && entry.high <= WIDEST * entry.time && entry.time <= WIDEST * entry.low;

/** The 95% interval of a time; the bare range, said to be that, where it is none. */
const intervalText = (entry) =>
  `${hasInterval(entry) ? "95% interval " : entry.few ? "too few samples for an interval, " : "no interval, "}${duration(entry.low)} – ${duration(entry.high)}`;

const colour = (variant) => (variant < 8 ? `s${variant}` : "other");
const choiceText = (family, entry) => {
  const configuration = family.configurations[entry.configuration];
  return configuration && configuration !== "default" ? `${family.variants[entry.variant]} (${configuration})`
                                                      : family.variants[entry.variant];
};

const octaves = (a, b) => Math.log2((a + 1) / (b + 1));

/** How far two problems are apart: octaves in every size, four for a word that differs. */
const distance = (family, a, b) => {
  let sum = 0;
  for (const { name } of family.numbers) sum += octaves(a.get(name), b.get(name)) ** 2;
  for (const { name } of family.words) sum += a.get(name) === b.get(name) ? 0 : 16;
  return Math.sqrt(sum);
};

const nearest = (family, values) =>
  family.problems.map((problem) => ({ problem, distance: distance(family, values, problem.values) }))
          .sort((a, b) => a.distance - b.distance);

const grouped = (items, keyOf) => {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
};
const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
