// Filters the cases of a comparison by family and verdict.

document.documentElement.classList.add("js");
const rows = [...document.querySelectorAll("#cases tbody tr")];
const wanted = { family: "*", verdict: "*" };
const show = () => {
  for (const row of rows) row.hidden = Object.entries(wanted).some(([name, value]) => value !== "*" && row.dataset[name] !== value);
};
const options = (name) => {
  const counts = new Map();
  for (const row of rows) counts.set(row.dataset[name], (counts.get(row.dataset[name]) ?? 0) + 1);
  return [["*", `all (${rows.length})`], ...[...counts].map(([value, count]) => [value, `${value} (${count})`])];
};
document.getElementById("filter").replaceChildren(...["verdict", "family"].map((name) =>
  choose(name, options(name), "*", (value) => { wanted[name] = value; show(); })));
