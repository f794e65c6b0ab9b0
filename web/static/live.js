// @ts-check
// Keeps a page up to date while games are played. Without this script the page shows how things stood.

/**
 * Put what is new into an element of the page.
 * @param {string} place
 * @param {string | undefined} html
 */
function fill(place, html) {
  const element = document.getElementById(place);
  if (element && html !== undefined) element.innerHTML = html;
}

/**
 * @typedef {{game: string, cells: [number, string][], note: string, caption?: string, orders?: string, rows?: string, charts?: string, clocks?: string, comment?: string}} Moves
 */

/**
 * Put moves on a game's board, and into its list if the page has one.
 * @param {Moves} moves
 */
function move(moves) {
  const frame = Array.from(document.querySelectorAll("[data-game]")).find(
    (element) => element instanceof HTMLElement && element.dataset.game === moves.game,
  );
  if (!frame) return;
  const cells = frame.querySelectorAll("svg.board g.at");
  for (const [number, html] of moves.cells) if (cells[number]) cells[number].outerHTML = html;
  for (const note of frame.querySelectorAll(".note")) note.textContent = moves.note;
  fill("charts", moves.charts);
  fill("clocks", moves.clocks);
  fill("orders", moves.orders);
  const caption = document.getElementById("caption");
  if (caption && moves.caption !== undefined) caption.textContent = moves.caption;
  const comment = document.getElementById("comment");
  if (comment && moves.comment !== undefined) comment.textContent = moves.comment;
  const rows = document.getElementById("rows");
  if (!rows || moves.rows === undefined) return;
  for (const row of rows.querySelectorAll(".chosen")) row.classList.remove("chosen");
  rows.insertAdjacentHTML("beforeend", moves.rows);
  const list = rows.closest(".long");
  if (list) list.scrollTop = list.scrollHeight;
}

const region = document.querySelector("[data-events]");
if (region instanceof HTMLElement && region.dataset.events) {
  const source = new EventSource(region.dataset.events);
  source.addEventListener("moves", (event) => move(JSON.parse(event.data)));
  source.addEventListener("wall", (event) => fill("wall", JSON.parse(event.data).html));
  source.addEventListener("results", (event) => {
    if (region.dataset.renewed) fill("results", JSON.parse(event.data).html);
  });
  for (const last of ["over", "end"]) {
    source.addEventListener(last, () => {
      source.close();
      // The page as it is when all is over; the moment lets the last result be stored.
      setTimeout(() => location.reload(), 400);
    });
  }
  // A browser keeps few connections to one place: one that is left goes at once.
  addEventListener("pagehide", () => source.close());
}
