// @ts-check
// Steps through a game that lies in the page itself: the address after # says after which move, and who sees it.

/**
 * What changes from move to move, as all see it or a seat. `first` names each cell's element before the first move,
 * and `changes` those that each move changes, as the cell and its element.
 * @typedef {{first: number[], changes: [number, number][][], captions: string[], orders: string[]}} View
 */
/**
 * `elements` are all that any cell ever looks like.
 * @typedef {{elements: string[], views: View[], clocks: string[], comments: string[]}} Steps
 */

const data = document.getElementById("steps");
/** @type {Steps} */
const steps = JSON.parse(data?.textContent ?? "");
const last = steps.comments.length - 1;
const board = document.querySelector("svg.board");
const rows = Array.from(document.querySelectorAll("#rows tr"));
const list = document.querySelector(".long");
/** @type {Record<"start" | "back" | "forward" | "end", (ply: number) => number | undefined>} */
const ways = {
  start: (ply) => (ply > 0 ? 0 : undefined),
  back: (ply) => (ply > 0 ? ply - 1 : undefined),
  forward: (ply) => (ply < last ? ply + 1 : undefined),
  end: (ply) => (ply < last ? last : undefined),
};

// The view that is shown, from 0: that of all.
let seen = 0;

/**
 * What each cell looks like after some moves.
 * @param {number} ply
 * @returns {number[]}
 */
function cellsAfter(ply) {
  const view = steps.views[seen];
  if (!view) return [];
  const cells = view.first.slice();
  for (const turn of view.changes.slice(0, ply)) for (const [cell, element] of turn) cells[cell] = element;
  return cells;
}

let shown = cellsAfter(last);

/**
 * Put a text into an element of the page, if it is there.
 * @param {string} place
 * @param {string | null | undefined} text
 */
function write(place, text) {
  const element = document.getElementById(place);
  if (element) element.textContent = text ?? "";
}

/**
 * What stands after # for the game after some moves as a view shows it.
 * @param {number} ply
 * @param {number} view
 * @returns {string}
 */
function address(ply, view) {
  return view ? `#${ply}-${view}` : `#${ply}`;
}

/**
 * Show the game after some moves.
 * @param {number} ply
 */
function show(ply) {
  const cells = cellsAfter(ply);
  const drawn = board?.querySelectorAll("g.at");
  cells.forEach((element, cell) => {
    if (drawn && element !== shown[cell]) drawn[cell].outerHTML = steps.elements[element];
  });
  shown = cells;
  rows.forEach((row, number) => {
    const chosen = number === ply - 1;
    row.classList.toggle("chosen", chosen);
    const link = row.querySelector("a");
    if (chosen) link?.setAttribute("aria-current", "true");
    else link?.removeAttribute("aria-current");
  });
  const row = rows[ply - 1];
  if (list instanceof HTMLElement && (row instanceof HTMLElement || ply === 0)) {
    list.scrollTop = row instanceof HTMLElement ? row.offsetTop - list.clientHeight / 2 : 0;
  }
  const move = row?.querySelector("a")?.textContent;
  write("note", `Move ${ply} of ${last}${move ? `: ${move}` : ""}`);
  write("caption", steps.views[seen]?.captions[ply]);
  const orders = document.getElementById("orders");
  if (orders) orders.innerHTML = steps.views[seen]?.orders[ply] ?? "";
  document.querySelectorAll("a[data-view]").forEach((link, number) => {
    if (number === seen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    link.setAttribute("href", address(ply, number));
  });
  write("comment", steps.comments[ply]);
  const clocks = document.getElementById("clocks");
  if (clocks) clocks.innerHTML = steps.clocks[ply];
  for (const line of document.querySelectorAll("svg.chart .now")) {
    const at = String((600 * ply) / (last || 1));
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
  }
  document.getElementById("here")?.setAttribute("href", address(ply, seen));
  for (const [name, way] of Object.entries(ways)) {
    const link = document.getElementById(`step-${name}`);
    const to = way(ply);
    link?.classList.toggle("off", to === undefined);
    link?.toggleAttribute(`data-${name}`, to !== undefined);
    if (to === undefined) {
      link?.removeAttribute("href");
      link?.setAttribute("aria-disabled", "true");
    } else {
      link?.setAttribute("href", address(to, seen));
      link?.removeAttribute("aria-disabled");
    }
  }
}

/** Show what the address says. */
function follow() {
  const [, moves, view] = /^#([0-9]+)(?:-([0-9]+))?$/.exec(location.hash) ?? [];
  seen = Math.min(Number(view ?? 0), Math.max(steps.views.length - 1, 0));
  show(moves === undefined ? last : Math.min(Number(moves), last));
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  if (!link) return;
  // At once: the browser tells of a new address later, when the next key may have been pressed.
  event.preventDefault();
  // The list of moves leads to moves alone: who sees them stays.
  const href = link.getAttribute("href") ?? "";
  go(link.hasAttribute("data-view") || href.includes("-") ? href : address(Number(href.slice(1)), seen));
});

/**
 * Go to what stands after #. A game that plays by itself leaves no trace in the browser's history.
 * @param {string} hash
 */
function go(hash) {
  if (document.documentElement.hasAttribute("data-playing")) location.replace(hash);
  else location.hash = hash;
  follow();
}

addEventListener("hashchange", follow);
follow();
