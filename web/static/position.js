// @ts-check
// Lights a pattern's cells while the pattern is pointed at. Without this script its link does so.

/** @type {SVGElement[]} */
const cells = Array.from(document.querySelectorAll(".board [data-matches]"));

/**
 * Light the cells of a pattern, or none.
 * @param {string | undefined} match
 */
function light(match) {
  for (const cell of cells) {
    const matches = (cell.dataset.matches ?? "").split(" ");
    cell.classList.toggle("pointed", match !== undefined && matches.includes(match));
  }
}

for (const card of document.querySelectorAll("[data-match]")) {
  if (!(card instanceof HTMLElement)) continue;
  card.addEventListener("pointerenter", () => light(card.dataset.match));
  card.addEventListener("pointerleave", () => light(undefined));
  card.addEventListener("focusin", () => light(card.dataset.match));
  card.addEventListener("focusout", () => light(undefined));
}
