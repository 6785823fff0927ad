// One family on one device, from the columns that page_data.py wrote.

const readProblems = (part, features, unseen) => {
  const apart = new Set(part.apart);  // peers, and what failed anywhere: never chosen
  return part.best.map((flat, row) => {
    const values = new Map(features.map((feature, i) => {
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
    return { values, best, own, winner: own[0], disturbed: choices.filter((entry) => entry.disturbed), unseen, floor: part.floor[row], bytes: part.cost[row][0], ops: part.cost[row][1],
             transfer: part.transfer[row], leaf: part.leaf[row], regret: part.regret[row],
             counters: new Map(counters.map(([variant, ...counts]) => [variant, counts])) };
  });
};

const readFamily = (data, name) => {
  const problems = [...readProblems(data.grid, data.features, false),
                    ...(data.unseen ? readProblems(data.unseen, data.features, true) : [])];
  // Where one variant alone was timed it has beaten nobody, unless nothing in the family was ever compared.
  const all = problems.filter((problem) => problem.winner), compared = all.filter((problem) => problem.own.length > 1);
  const distinct = (feature) => new Set(problems.map((problem) => problem.values.get(feature.name))).size;
  return {
    name, all, disturbed: problems.filter((problem) => !problem.winner && problem.disturbed.length), problems: compared.length ? compared : all, features: data.features, tree: data.tree,
    counted: data.grid.counted ?? [], variants: data.variants, configurations: data.configurations,
    numbers: data.features.filter((f) => !f.words && !f.derived && distinct(f) > 1),
    derived: data.features.filter((f) => f.derived && distinct(f) > 1),
    words: data.features.filter((f) => f.words && distinct(f) > 1),
    asked: data.features.filter((f) => distinct(f) > 1 && !f.derived?.of),
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

/** The value of a feature, or of "a * b" or "a / b" of two, as kernels/core/pair.hpp has them. */
const valueOf = (expression, values) => {
  for (const sign of [" * ", " / "]) {
    const [a, b] = expression.split(sign);
    if (b !== undefined) return sign === " * " ? values.get(a) * values.get(b) : values.get(a) / (values.get(b) || 1);
  }
  return values.get(expression);
};

/** The places of the nodes from the root to the leaf that the tree ends in for a problem. */
const pathOf = (tree, values) => {
  const path = [0];
  for (let node = tree[0]; node.feature !== undefined; node = tree[path.at(-1)]) {
    const value = valueOf(node.feature, values);
    const left = Array.isArray(node.at) ? node.at.includes(value) : value <= node.at;
    path.push(left ? path.at(-1) + 1 : node.right);
  }
  return path;
};

/** Fills in what is computed from other features; what is no product is taken from `like`, unless it is given. */
const withDerived = (family, values, like) => {
  const all = new Map(values);
  for (const feature of family.features) {
    if (all.get(feature.name) !== undefined && !feature.derived?.of) continue;
    const product = feature.derived?.of?.reduce((sum, name) => sum * all.get(name), feature.derived.times);
    all.set(feature.name, product ?? like?.values.get(feature.name));
  }
  return all;
};

const octaves = (a, b) => Math.log2((a + 1) / (b + 1));

/** How far two problems are apart: octaves in every size, four for a word that differs. */
const distance = (family, a, b) => {
  let sum = 0;
  for (const { name } of family.numbers) sum += octaves(a.get(name), b.get(name)) ** 2;
  for (const { name } of family.words) sum += a.get(name) === b.get(name) ? 0 : 16;
  return Math.sqrt(sum);
};

const nearest = (family, values, problems = family.problems) =>
  problems.map((problem) => ({ problem, distance: distance(family, values, problem.values) }))
          .sort((a, b) => a.distance - b.distance);

/** Solves a small symmetric system by elimination with pivots. */
const solve = (matrix, right) => {
  const n = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]]);
  for (let i = 0; i < n; ++i) {
    let pivot = i;
    for (let r = i + 1; r < n; ++r) if (Math.abs(rows[r][i]) > Math.abs(rows[pivot][i])) pivot = r;
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    for (let r = i + 1; r < n; ++r) {
      const factor = rows[r][i] / rows[i][i];
      for (let c = i; c <= n; ++c) rows[r][c] -= factor * rows[i][c];
    }
  }
  const found = Array(n).fill(0);
  for (let i = n - 1; i >= 0; --i) {
    let rest = rows[i][n];
    for (let c = i + 1; c < n; ++c) rest -= rows[i][c] * found[c];
    found[i] = rest / rows[i][i];
  }
  return found;
};

/** log2 of the best time at `values`: a plane through the neighbours' logarithms, the nearer the heavier. */
const plane = (family, values, neighbours) => {
  const n = family.numbers.length + 1;
  const matrix = Array.from({ length: n }, () => Array(n).fill(0));
  const right = Array(n).fill(0);
  for (const { problem, distance } of neighbours) {
    const x = [1, ...family.numbers.map(({ name }) => octaves(problem.values.get(name), values.get(name)))];
    const weight = 1 / (0.3 + distance ** 2);
    for (let i = 0; i < n; ++i) {
      right[i] += weight * x[i] * Math.log2(problem.winner.time);
      for (let j = 0; j < n; ++j) matrix[i][j] += weight * x[i] * x[j];
    }
  }
  for (let i = 1; i < n; ++i) matrix[i][i] += 0.05;  // without enough neighbours a slope is 0
  return solve(matrix, right)[0];
};

const MOST_NEIGHBOURS = 16;

/** The best time of a problem that was not measured, and the factor either way that nine of ten neighbours, each
 *  predicted from the others, stay within; of the H200's unseen problems eight of ten do. Null where too few problems are of
 *  its kind. */
const estimate = (family, values, problems = family.problems) => {
  const alike = problems.filter((p) => family.words.every(({ name }) => p.values.get(name) === values.get(name)));
  const neighbours = nearest(family, values, alike).slice(0, MOST_NEIGHBOURS);
  if (neighbours.length < 4) return null;
  const misses = neighbours.map(({ problem }) => {
    const others = nearest(family, problem.values, neighbours.map((n) => n.problem).filter((p) => p !== problem));
    return Math.abs(plane(family, problem.values, others) - Math.log2(problem.winner.time));
  }).sort((a, b) => a - b);
  const time = 2 ** plane(family, values, neighbours);
  const factor = 2 ** misses[Math.ceil(0.9 * misses.length) - 1];
  return Number.isFinite(time) && Number.isFinite(factor) ? { time, factor, count: neighbours.length } : null;
};

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
