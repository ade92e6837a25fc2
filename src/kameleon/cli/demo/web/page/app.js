// The page: what its buttons do, and what it shows.
import { Curve } from "./curve.js";
import { Drawing } from "./drawing.js";

const QUIET = 800; // milliseconds without a change, until what is read is told to those who hear it
const TAUGHT = 10; // steps for a digit that was drawn
const at = (id) => document.getElementById(id);
const percent = (share, places = 0) => `${(100 * share).toFixed(places)}%`;

// The worker's methods, as functions that give promises.
function remote(address) {
  const worker = new Worker(address, { type: "module" });
  const waiting = new Map();
  let count = 0;
  worker.addEventListener("message", ({ data: { id, found, error } }) => {
    const [done, failed] = waiting.get(id);
    waiting.delete(id);
    error === undefined ? done(found) : failed(new Error(error));
  });
  const broken = new Promise((_, failed) => {
    worker.addEventListener("error", (event) => failed(new Error(event.message ?? "the worker didn't start")));
  });
  const call = (name, ...values) => {
    const answer = new Promise((done, failed) => waiting.set(++count, [done, failed]));
    worker.postMessage({ id: count, name, values });
    return Promise.race([answer, broken]);
  };
  return new Proxy({}, { get: (_, name) => (...values) => call(name, ...values) });
}

const training = remote("worker.js");
const course = await (await fetch("course.json")).json();
const curve = new Curve(at("curve"), course.losses);
export const losses = []; // of all steps so far
let [goal, running, drawn, label] = [0, false, false, null];
let [reading, again, telling] = [false, false, 0];

// Reading what is drawn ---------------------------------------------------------------------------

const bars = Array.from({ length: 10 }, (_, digit) => {
  const row = document.createElement("li");
  row.innerHTML = `<b>${digit}</b><span class="bar"><i></i></span><span class="share"></span>`;
  at("bars").append(row);
  return row;
});
const teachers = Array.from({ length: 10 }, (_, digit) => {
  const button = document.createElement("button");
  button.textContent = digit;
  button.setAttribute("aria-label", `It's a ${digit}: train on this`);
  button.addEventListener("click", () => teach(digit));
  at("teachers").append(button);
  return button;
});
const drawing = new Drawing(at("canvas"), at("small"), () => {
  label = null;
  read();
});

// One prediction at a time; of what has changed meanwhile, the last state counts.
async function read() {
  again = reading;
  if (reading) return;
  reading = true;
  const { cells } = drawing;
  try {
    show(cells && (await training.predict(cells)));
  } catch (error) {
    fail(error);
  }
  reading = false;
  if (again) read();
}

function show(probabilities) {
  const best = probabilities ? probabilities.indexOf(Math.max(...probabilities)) : -1;
  bars.forEach((row, digit) => {
    const share = probabilities ? probabilities[digit] : 0;
    row.classList.toggle("best", digit === best);
    row.querySelector("i").style.width = `${100 * share}%`;
    row.querySelector(".share").textContent = probabilities ? percent(share) : "";
  });
  teachers.forEach((button) => (button.disabled = !probabilities));
  const known = label === null ? "" : ` It shows a ${label}.`;
  const words = best < 0 ? "Draw a digit." : `It reads a ${best}, ${percent(probabilities[best])} sure.${known}`;
  at("reads").textContent = words;
  clearTimeout(telling);
  telling = setTimeout(() => (at("said").textContent = words), QUIET);
}

// Learning ----------------------------------------------------------------------------------------

async function run() {
  if (running) return;
  running = true;
  tell();
  try {
    while (losses.length < goal) {
      losses.push(await training.step());
      curve.show(losses);
      tell();
      if (losses.length % course.steps === 0) await tellAccuracy();
      read();
    }
    if (losses.length) await tellAccuracy();
  } catch (error) {
    fail(error);
  }
  running = false;
  tell();
}

async function teach(digit) {
  [drawn, label] = [true, digit];
  await training.add(drawing.cells, digit);
  goal = Math.max(goal, losses.length + TAUGHT);
  run();
}

async function tellAccuracy() {
  at("accuracy").textContent = percent(await training.accuracy(), 1);
}

function tell() {
  at("train").textContent = running ? "Pause" : losses.length ? "Train on" : "Train";
  at("steps").textContent = losses.length;
  at("loss").textContent = losses.length ? losses.at(-1).toFixed(3) : "–";
  at("apart").textContent = apart();
}

// How far the losses are from Python's.
function apart() {
  const { losses: expected } = course;
  const count = Math.min(losses.length, expected.length);
  if (drawn) return "Since it learns what you have drawn, the curve is yours alone.";
  if (!count) return "";
  const most = Math.max(...expected.slice(0, count).map((loss, i) => Math.abs(losses[i] - loss) / loss));
  return `${count} losses, all within ${most.toExponential(0)} of Python's.`;
}

function fail(error) {
  goal = 0;
  at("reads").textContent = `That didn't work: ${error.message}`;
}

// Buttons -----------------------------------------------------------------------------------------

at("train").addEventListener("click", () => {
  goal = running ? 0 : losses.length + course.losses.length;
  run();
});
at("reset").addEventListener("click", async () => {
  goal = 0;
  while (running) await new Promise((done) => setTimeout(done, 10));
  await training.reset();
  losses.length = 0;
  drawn = false;
  curve.show(losses);
  tell();
  await tellAccuracy();
  read();
});
at("clear").addEventListener("click", () => drawing.clear());
at("example").addEventListener("click", async () => {
  const [cells, shown] = await training.heldOut();
  drawing.put(cells);
  label = shown;
});

// Around it, the documentation: it says which colours, and wants to know the height.
if (parent !== window) {
  document.documentElement.classList.add("embedded");
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !("theme" in data)) return;
    document.documentElement.dataset.theme = data.theme;
    drawing.show();
  });
  const tell = () => parent.postMessage({ height: document.body.offsetHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
}

// The first call waits until all is there.
try {
  await tellAccuracy();
  document.querySelectorAll("button:not(#teachers button)").forEach((button) => (button.disabled = false));
  document.documentElement.classList.add("ready");
  at("state").hidden = true;
  tell();
  read();
} catch (error) {
  at("state").textContent = `The network can't be loaded: ${error.message}`;
}
