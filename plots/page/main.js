// The filter by device and family, and what it shows.

const page = document.documentElement;
page.classList.add("js");
const data = JSON.parse(document.getElementById("data").textContent);
const redraw = [];  // pictures of the family that is shown, drawn anew when the width changes
const pictureWidth = () => Math.max(280, Math.min(1000, document.querySelector("main").clientWidth - 34));

const devices = [...document.querySelectorAll("section.device")].map((element) => ({ key: element.dataset.device, element,
  families: [...element.querySelectorAll("section.family")].map((family) => ({ name: family.dataset.family, element: family })) }));

const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

/** Marks a leaf and the branches that hold it; none for a problem that was not measured. */
const markLeaf = (section, leaf) => {
  const item = section.querySelector(`.tree li[data-leaf="${leaf}"]`);
  for (const one of section.querySelectorAll(".tree li")) one.classList.toggle("taken", Boolean(item) && one.contains(item));
};

const drawFamily = (device, name, section) => {
  redraw.length = 0;
  const raw = own(own(data, device.key)?.families ?? {}, name);
  if (!raw) return;
  const family = readFamily(raw, name), facts = { key: device.key, ...data[device.key] };
  const nothing = () => null;
  const views = !family.problems.length ? { lookup: () => (family.disturbed.length ? nothingWon(family) : null), winners: nothing, times: nothing, roofline: nothing, regret: nothing }
    : { lookup: () => lookup(family, facts, (found) => markLeaf(section, found.exact?.pick?.leaf?.drawn)), winners: () => winners(family),
                  times: () => timesView(family), roofline: () => roofline(family, facts), regret: () => regretView(family) };
  for (const holder of section.querySelectorAll("[data-view]")) {
    const view = views[holder.dataset.view]();
    holder.replaceChildren(...(view ? [view] : []));
  }
};

const filter = document.getElementById("filter");
const shown = { device: devices[0], family: devices[0]?.families[0]?.name };

const show = (device, name) => {
  shown.device = device;
  shown.family = device.families.some((family) => family.name === name) ? name : device.families[0]?.name;
  for (const one of devices) {
    one.element.hidden = one !== device;
    for (const family of one.families) {
      family.element.hidden = one !== device || family.name !== shown.family;
      if (family.element.hidden) for (const holder of family.element.querySelectorAll("[data-view]")) holder.replaceChildren();
    }
  }
  filter.replaceChildren(
    choose("device", devices.map((one) => [one.key]), device.key, (key) => go(devices.find((one) => one.key === key), shown.family)),
    h("div", { class: "pills", role: "group", "aria-label": "family" }, device.families.map((family) =>
      h("button", { type: "button", "aria-pressed": String(family.name === shown.family), click: () => go(device, family.name) }, family.name))));
  const section = device.families.find((family) => family.name === shown.family);
  if (section) drawFamily(device, shown.family, section.element);
};

const go = (device, name) => {
  show(device, name);
  const element = device.families.find((family) => family.name === shown.family)?.element;
  if (element) history.replaceState(null, "", `#${element.id}`);
};

const follow = () => {
  for (const device of devices)
    for (const family of device.families)
      if (`#${family.element.id}` === location.hash) {
        show(device, family.name);
        scrollTo(0, 0);
        return true;
      }
  return false;
};

for (const details of document.querySelectorAll("details.long")) details.open = false;
if (devices.length && !follow()) {
  const most = [...devices[0].families].sort((a, b) => (own(data[devices[0].key].families, b.name)?.grid.best.length ?? 0) - (own(data[devices[0].key].families, a.name)?.grid.best.length ?? 0))[0];
  show(devices[0], most?.name);
}
addEventListener("hashchange", follow);
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  for (const draw of redraw) draw();
});
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("section.family:not([hidden]) details.long")) details.open = true;
});
