// @ts-check
// Makes maps larger and smaller: by two fingers, by the wheel with Ctrl, and by buttons. Without this script they scroll.

const MOST = 8;
const STEP = 1.4;

/**
 * Make the map in a frame larger or smaller around a point of the window.
 * @param {HTMLElement} frame
 * @param {number} factor
 * @param {number} [x]
 * @param {number} [y]
 */
function zoom(frame, factor, x, y) {
  const map = frame.querySelector("svg");
  if (!map) return;
  const place = frame.getBoundingClientRect();
  const right = (x ?? place.left + place.width / 2) - place.left;
  const down = (y ?? place.top + place.height / 2) - place.top;
  const now = map.getBoundingClientRect().width;
  const least = Number((frame.dataset.width ??= String(Math.min(now, frame.clientWidth))));
  const next = Math.min(Math.max(now * factor, least), least * MOST);
  const grown = next / now;
  // The frame keeps its size, so that nothing below it moves.
  frame.style.height = `${place.height}px`;
  frame.style.overflow = "auto";
  map.style.width = `${next}px`;
  map.style.maxWidth = map.style.maxHeight = "none";
  frame.scrollLeft = (frame.scrollLeft + right) * grown - right;
  frame.scrollTop = (frame.scrollTop + down) * grown - down;
}

/**
 * How far apart two fingers are, and where their middle is.
 * @param {TouchList} touches
 * @returns {{apart: number, x: number, y: number}}
 */
function pinch(touches) {
  const [first, second] = [touches[0], touches[1]];
  return {
    apart: Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY),
    x: (first.clientX + second.clientX) / 2,
    y: (first.clientY + second.clientY) / 2,
  };
}

/**
 * The middle one of some numbers.
 * @param {number[]} numbers
 * @returns {number}
 */
function median(numbers) {
  return numbers.sort((first, second) => first - second)[Math.floor(numbers.length / 2)];
}

/**
 * Bring what the last turn changed into the middle of a frame that shows a part of its map.
 * @param {HTMLElement} frame
 */
function centre(frame) {
  const places = Array.from(frame.querySelectorAll("g.last"), (cell) => {
    const box = cell.getBoundingClientRect();
    return { right: box.left + box.width / 2, down: box.top + box.height / 2 };
  });
  if (!places.length) return;
  // Where most of it happened, not between two places far from each other.
  const right = median(places.map((place) => place.right));
  const down = median(places.filter((place) => Math.abs(place.right - right) < frame.clientWidth / 2).map((place) => place.down));
  const box = frame.getBoundingClientRect();
  frame.scrollLeft += right - box.left - box.width / 2;
  frame.scrollTop += down - box.top - box.height / 2;
}

for (const frame of document.querySelectorAll(".board-frame.scroll")) {
  if (!(frame instanceof HTMLElement)) continue;
  centre(frame);
  let apart = 0;
  frame.addEventListener("touchstart", (event) => {
    if (event.touches.length === 2) apart = pinch(event.touches).apart;
  }, { passive: true });
  frame.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2 || !apart) return;
    event.preventDefault();
    const now = pinch(event.touches);
    zoom(frame, now.apart / apart, now.x, now.y);
    apart = now.apart;
  }, { passive: false });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(frame, event.deltaY < 0 ? STEP : 1 / STEP, event.clientX, event.clientY);
  }, { passive: false });
  for (const button of document.querySelectorAll("button[data-zoom]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.disabled = false;
    button.addEventListener("click", () => zoom(frame, button.dataset.zoom === "in" ? STEP : 1 / STEP));
  }
}
