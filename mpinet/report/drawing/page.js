"use strict";
const svg = document.querySelector("svg");
const output = document.querySelector("output");
const search = document.querySelector("input");
const nodes = [...document.querySelectorAll("[data-n]")];
const links = [...document.querySelectorAll("[data-u]")];
const all = svg.viewBox.baseVal;
const home = [all.x, all.y, all.width, all.height];
let pinned = null;

const ends = (link) => [+link.dataset.u, +link.dataset.v];

function light(node) {
  for (const lit of document.querySelectorAll(".lit, .near")) lit.classList.remove("lit", "near");
  output.textContent = "";
  if (!node) return;
  const number = +node.dataset.n;
  node.classList.add("lit");
  const names = [];
  for (const link of links) {
    const [u, v] = ends(link);
    if (u !== number && v !== number) continue;
    link.classList.add("lit");
    const other = nodes.find((one) => +one.dataset.n === u + v - number);
    other.classList.add("near");
    const load = link.dataset.load ? ` (${link.dataset.load} messages)` : "";
    names.push(other.textContent + load);
  }
  output.textContent = `${node.textContent} is joined to ${names.join(", ")}`;
}

for (const node of nodes) {
  node.addEventListener("mouseenter", () => pinned || light(node));
  node.addEventListener("mouseleave", () => pinned || light(null));
  node.addEventListener("click", () => {
    pinned = pinned === node ? null : node;
    light(pinned);
  });
}

search.form.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", () => {
  const word = search.value.trim();
  const named = (node) => node.textContent.split(": ").includes(word);
  pinned = word ? nodes.find(named) || null : null;
  light(pinned);
});

function view(x, y, width, height) {
  svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
}

function zoom(by, x, y) {
  view(x - (x - all.x) * by, y - (y - all.y) * by, all.width * by, all.height * by);
}

function place(event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(svg.getScreenCTM().inverse());
}

svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = place(event);
  zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, at.x, at.y);
}, { passive: false });

let held = null;
svg.addEventListener("pointerdown", (event) => { held = place(event); });
addEventListener("pointerup", () => { held = null; });
svg.addEventListener("pointermove", (event) => {
  if (!held) return;
  const at = place(event);
  view(all.x + held.x - at.x, all.y + held.y - at.y, all.width, all.height);
});

addEventListener("keydown", (event) => {
  if (event.target === search) return;
  const middle = [all.x + all.width / 2, all.y + all.height / 2];
  if (event.key === "+") zoom(1 / 1.25, ...middle);
  if (event.key === "-") zoom(1.25, ...middle);
  if (event.key === "0") view(...home);
  if (event.key === "Escape") { pinned = null; light(null); }
});
