// Filters of the gallery: a card is hidden unless it has all that the form asks for.
"use strict";
(() => {
  const form = document.querySelector(".gallery-filters");
  if (!form) return;
  const cards = [...document.querySelectorAll(".gallery-card")];
  const told = form.querySelector("output");
  const filter = () => {
    const word = form.elements.word.value.trim().toLowerCase();
    for (const card of cards) {
      card.hidden =
        !card.textContent.toLowerCase().includes(word) ||
        (form.elements.degree.value && card.dataset.degree !== form.elements.degree.value) ||
        (form.elements.size.value && card.dataset.size !== form.elements.size.value) ||
        (form.elements.today.checked && !card.dataset.today);
    }
    told.value = `${cards.filter((card) => !card.hidden).length} of ${cards.length} networks`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
