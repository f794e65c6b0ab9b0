// @ts-check
// Lights cells while a pattern, a move or an area that concerns them is pointed at. Without this script links do so.

/**
 * Light some cells of the board, and no others.
 * @param {(cell: Element, number: number) => boolean} concerns
 */
function light(concerns) {
  // Looked for each time: a step through a game puts others in their place.
  const cells = Array.from(document.querySelectorAll(".board g.at:not(.arrows)"));
  // A map has two elements for each cell: its ground, and what stands on it.
  const count = document.querySelector(".board.map") ? cells.length / 2 : cells.length;
  cells.forEach((cell, number) => cell.classList.toggle("pointed", concerns(cell, number % count)));
}

const none = () => light(() => false);

/**
 * Do something while an element is pointed at or has the focus.
 * @param {HTMLElement} element
 * @param {() => void} begin
 */
function whilePointedAt(element, begin) {
  element.addEventListener("pointerenter", begin);
  element.addEventListener("pointerleave", none);
  element.addEventListener("focusin", begin);
  element.addEventListener("focusout", none);
}

for (const card of document.querySelectorAll("[data-match]")) {
  if (!(card instanceof HTMLElement)) continue;
  const match = card.dataset.match ?? "";
  whilePointedAt(card, () =>
    light((cell) => (cell instanceof SVGElement ? (cell.dataset.matches ?? "").split(" ").includes(match) : false)),
  );
}

for (const place of document.querySelectorAll("[data-cells]")) {
  if (!(place instanceof HTMLElement)) continue;
  const named = (place.dataset.cells ?? "").split(" ");
  whilePointedAt(place, () => light((_, number) => named.includes(String(number))));
}
