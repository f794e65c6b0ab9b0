// @ts-check
// Arrow keys in the opening explorer and in the viewer of games, playing, and clicks on curves. Without this script
// every link works as it is.

/** @type {HTMLAnchorElement[]} */
const moves = Array.from(document.querySelectorAll("a[data-move]"));

/**
 * The place of the chosen move in the list, or -1.
 * @returns {number}
 */
function chosen() {
  return moves.findIndex((move) => move === document.activeElement);
}

/**
 * Follow a link, where there is one.
 * @param {Element | null | undefined} link
 * @returns {boolean} whether there was one
 */
function follow(link) {
  if (!(link instanceof HTMLAnchorElement)) return false;
  // A game that plays by itself is one entry in the browser's history: Back leaves it.
  if (playing() && !link.getAttribute("href")?.startsWith("#")) location.replace(link.href);
  else link.click();
  return true;
}

/**
 * Follow the link that steps through a line or a game.
 * @param {"start" | "back" | "forward" | "end"} where
 * @returns {boolean} whether there was one
 */
function step(where) {
  return follow(document.querySelector(`a[data-${where}]`));
}

/**
 * Choose the move some places further in the list.
 * @param {number} step
 * @returns {boolean} whether there are moves
 */
function choose(step) {
  if (!moves.length) return false;
  const now = chosen();
  const next = now < 0 ? (step > 0 ? 0 : moves.length - 1) : (now + step + moves.length) % moves.length;
  moves[next].focus();
  return true;
}

/** @type {Record<string, () => boolean>} */
const actions = {
  ArrowUp: () => choose(-1) || step("back"),
  ArrowDown: () => choose(1) || step("forward"),
  ArrowRight: () => follow(moves[Math.max(chosen(), 0)]) || step("forward"),
  ArrowLeft: () => step("back"),
  Home: () => step("start"),
  End: () => step("end"),
};

/**
 * Whether a key moves what a box shows, because more lies there.
 * @param {Element} box
 * @param {string} key
 * @returns {boolean}
 */
function scrolls(box, key) {
  return ["ArrowLeft", "ArrowRight"].includes(key)
    ? box.scrollWidth > box.clientWidth
    : box.scrollHeight > box.clientHeight;
}

// After a click on a map the arrow keys step through the game; after Tab to it they scroll it.
/** @type {Element | null} */
let pressed = null;
document.addEventListener("pointerdown", (event) => {
  pressed = event.target instanceof Element ? event.target.closest(".board-frame") : null;
});

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Tab") pressed = null;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!(target instanceof Element) || target.closest("input, textarea, select")) return;
  if (target.matches(".scroll, .comment") && target !== pressed && scrolls(target, event.key)) return;
  if (actions[event.key]?.()) event.preventDefault();
});

// Playing by itself goes on from page to page, until the end of the game or another press of the button.
const PLAYING = "academy-playing";
const PAUSE = 900;
const button = document.querySelector("button[data-play]");
const viewer = document.querySelector("[data-game]");
const shownGame = viewer instanceof HTMLElement ? (viewer.dataset.game ?? "") : "";

/**
 * Whether the game of this page is being played.
 * @returns {boolean}
 */
function playing() {
  return sessionStorage.getItem(PLAYING) === shownGame;
}

let timer = 0;

/** Play no more. */
function pause() {
  clearTimeout(timer);
  sessionStorage.removeItem(PLAYING);
  document.documentElement.removeAttribute("data-playing");
  if (button) button.textContent = "Play";
}

/** Go on after a moment, as long as the game is being played. */
function playOn() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (playing()) stepOn("forward");
  }, PAUSE);
}

/**
 * Make a step, and go on after it: here if a link leads within this page, else the next page does.
 * @param {"start" | "forward"} where
 */
function stepOn(where) {
  const link = document.querySelector(`a[data-${where}]`);
  const here = link?.getAttribute("href")?.startsWith("#");
  if (!follow(link)) pause();
  else if (here) playOn();
}

if (button instanceof HTMLButtonElement) {
  const forward = document.querySelector("a[data-forward]");
  if (playing() && forward) {
    button.textContent = "Pause";
    playOn();
  } else {
    pause();
  }
  button.disabled = !forward && !document.querySelector("a[data-start]");
  button.addEventListener("click", () => {
    if (playing()) {
      pause();
      return;
    }
    sessionStorage.setItem(PLAYING, shownGame);
    document.documentElement.setAttribute("data-playing", "");
    button.textContent = "Pause";
    stepOn(document.querySelector("a[data-forward]") ? "forward" : "start");
  });
}

// A click on a curve goes to the move below it.
const charts = document.getElementById("charts");
charts?.addEventListener("click", (event) => {
  const chart = event.target instanceof Element ? event.target.closest("svg.chart") : null;
  const rows = document.querySelectorAll("#rows tr");
  if (!chart || !rows.length) return;
  const place = chart.getBoundingClientRect();
  const ply = Math.round((rows.length * (event.clientX - place.left)) / place.width);
  follow(rows[Math.min(Math.max(ply, 1), rows.length) - 1].querySelector("a"));
});

const list = document.querySelector(".long");
const shown = list?.querySelector(".chosen");
if (list instanceof HTMLElement && shown instanceof HTMLElement) {
  list.scrollTop = shown.offsetTop - list.clientHeight / 2;
}
