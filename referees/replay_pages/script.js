const byId = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const made = (name, attributes, text) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const html = (name, attributes, ...inside) => {
  const element = document.createElement(name);
  Object.assign(element, attributes);
  element.append(...inside);
  return element;
};

// Steps through a game by the buttons, the keys and time. `at()` tells the step that is shown, of 0 to `last`, and
// `go(step)` shows another; `next(forward)` is the step after or before it. At speed 1 each is shown for `pace` ms.
// Returns what shows a step where somebody wants to look at it.
function stepper({last, pace, at, go, next = forward => at() + (forward ? 1 : -1)}) {
  let timer = 0;
  const pause = () => { clearTimeout(timer); timer = 0; byId("play").textContent = "▶ play"; };
  const wait = () => { timer = setTimeout(tick, pace / byId("speed").valueAsNumber); };
  const tick = () => { go(next(true)); if (at() === last) pause(); else wait(); };
  const toggle = () => {
    if (timer) return pause();
    if (at() === last) go(0);
    byId("play").textContent = "❚❚ pause";
    wait();
  };
  const jump = step => { pause(); go(step); };
  const ways = {first: () => jump(0), back: () => jump(next(false)), play: toggle, forward: () => jump(next(true)),
    last: () => jump(last)};
  for (const [id, way] of Object.entries(ways)) byId(id).onclick = way;
  const keys = {Home: ways.first, ArrowLeft: ways.back, " ": toggle, ArrowRight: ways.forward, End: ways.last};
  addEventListener("keydown", key => {
    if (key.target.matches("input, select") || key.ctrlKey || key.metaKey || key.altKey || !keys[key.key]) return;
    keys[key.key]();
    key.preventDefault();
  });
  return jump;
}
