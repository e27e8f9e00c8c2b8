// Shows the claims of the chosen papers and verdicts whose text holds the words searched for.
// The choice is kept in the address (#verdict=refuted&words=diameter), so that it can be sent.
const form = document.querySelector("form");
const boxes = [...form.querySelectorAll("input[type=checkbox]")];
const rows = [...document.querySelectorAll("tr[data-verdict]")];
const sections = [...document.querySelectorAll("section")];
const shown = document.querySelector("output");

function chosen(name) {
  return new Set(boxes.filter(box => box.name === name && box.checked).map(box => box.value));
}

function filter() {
  const papers = chosen("paper"), verdicts = chosen("verdict");
  const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const text = `${row.dataset.words} ${row.textContent}`.toLowerCase();
    row.hidden = !(papers.has(row.dataset.paper) && verdicts.has(row.dataset.verdict)
                   && words.every(word => text.includes(word)));
    count += !row.hidden;
  }
  for (const section of sections)  // with their tables and plots, where a search finds nothing
    section.hidden = !section.querySelector("tr[data-verdict]:not([hidden])");
  shown.value = `${count} of ${rows.length} claims`;
}

function read() {
  const choice = new URLSearchParams(location.hash.slice(1));
  for (const box of boxes) {
    const wanted = choice.getAll(box.name);
    box.checked = wanted.length === 0 || wanted.includes(box.value);
  }
  form.elements.words.value = choice.get("words") ?? "";
}

function remember() {
  const choice = new URLSearchParams();
  for (const name of new Set(boxes.map(box => box.name))) {
    const own = boxes.filter(box => box.name === name);
    if (!own.every(box => box.checked))
      own.filter(box => box.checked).forEach(box => choice.append(name, box.value));
  }
  if (form.elements.words.value) choice.set("words", form.elements.words.value);
  history.replaceState(null, "", `#${choice}`);
}

form.addEventListener("input", () => { filter(); remember(); });
form.addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", () => { read(); filter(); });
read();
filter();
