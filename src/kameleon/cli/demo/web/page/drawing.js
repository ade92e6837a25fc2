// Drawing a digit, with a mouse, a finger or the keyboard; and what the network sees of it: 8 by 8
// cells, as those of the digits that it learns from were made. Their drawings filled a box of 32 by
// 32 dots; a cell tells how many of its 4 by 4 dots were inked.
const BOX = 32;
const PEN = 4.5; // dots
const FINE = 4; // parts of a dot, along each axis
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 1 / 16; // of the canvas, for a key

const paper = document.createElement("canvas");
paper.width = paper.height = BOX * FINE;
const ink = paper.getContext("2d", { willReadFrequently: true });

function trace(context, strokes, place) {
  context.lineCap = context.lineJoin = "round";
  for (const stroke of strokes) {
    context.beginPath();
    const points = stroke.map(place);
    context.moveTo(...points[0]);
    for (const point of points.length > 1 ? points.slice(1) : points) context.lineTo(...point);
    context.stroke();
  }
}

// What is drawn, as large as the box allows, in its middle.
export function cellsOf(strokes) {
  const [xs, ys] = [0, 1].map((axis) => strokes.flat().map((point) => point[axis]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = (BOX - PEN) / Math.max(bottom - top, right - left, 0.1);
  const place = ([x, y]) => [
    FINE * (BOX / 2 + scale * (x - (left + right) / 2)),
    FINE * (BOX / 2 + scale * (y - (top + bottom) / 2)),
  ];
  ink.clearRect(0, 0, paper.width, paper.height);
  ink.lineWidth = PEN * FINE;
  trace(ink, strokes, place);
  const { data } = ink.getImageData(0, 0, paper.width, paper.height);
  const cells = new Float32Array(64);
  for (let i = 3; i < data.length; i += 4) {
    const [x, y] = [(i >> 2) % paper.width, Math.floor((i >> 2) / paper.width)];
    cells[8 * Math.floor(y / (4 * FINE)) + Math.floor(x / (4 * FINE))] += data[i] / 255;
  }
  return cells.map((sum) => Math.round(sum / FINE ** 2) / 16);
}

export class Drawing {
  // `changed` is called with the cells, or null where there's nothing.
  constructor(canvas, small, changed) {
    this.canvas = canvas;
    this.small = small;
    this.changed = changed;
    this.strokes = []; // each a list of points
    this.drawn = null; // the stroke that goes on
    this.cells = null;
    this.pen = null; // the keyboard's: {at, down}
    canvas.addEventListener("pointerdown", (event) => this.#begin(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.drawn = null));
    canvas.addEventListener("keydown", (event) => this.#press(event));
    canvas.addEventListener("blur", () => this.#put(null));
    new ResizeObserver(() => this.show()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  clear() {
    this.drawn = null;
    this.put(null);
  }

  // Show a digit of 8 by 8 cells, or nothing.
  put(cells) {
    this.strokes = [];
    this.#tell(cells);
  }

  #at({ clientX, clientY }) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height];
  }

  #begin(event) {
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    if (event.isTrusted) this.canvas.setPointerCapture(event.pointerId);
    this.pen = null;
    this.strokes.push((this.drawn = [this.#at(event)]));
    this.#tell();
  }

  #move(event) {
    if (!this.drawn) return;
    for (const each of event.getCoalescedEvents?.().length ? event.getCoalescedEvents() : [event]) {
      this.drawn.push(this.#at(each));
    }
    this.#tell();
  }

  // Arrows move a pen, the space bar puts it down and takes it up.
  #press(event) {
    const move = MOVES[event.key];
    if (!move && event.key !== " ") return;
    event.preventDefault();
    const { at, down } = this.pen ?? { at: [0.5, 0.25], down: false };
    if (!move) {
      if (!down) this.strokes.push((this.drawn = [at]));
      this.#put({ at, down: !down });
      return this.#tell();
    }
    const to = at.map((x, axis) => Math.min(0.95, Math.max(0.05, x + STEP * move[axis])));
    this.#put({ at: to, down });
    if (down) {
      this.drawn.push(to);
      this.#tell();
    }
  }

  #put(pen) {
    this.pen = pen;
    this.show();
  }

  #tell(cells = cellsOf(this.strokes)) {
    this.cells = cells;
    this.show();
    this.changed(cells);
  }

  show() {
    const size = Math.round(this.canvas.clientWidth * devicePixelRatio);
    if (!size) return;
    if (this.canvas.width !== size) this.canvas.width = this.canvas.height = size;
    const context = this.canvas.getContext("2d");
    const colours = getComputedStyle(this.canvas);
    context.clearRect(0, 0, size, size);
    context.strokeStyle = context.fillStyle = colours.color;
    if (this.cells && !this.strokes.length) blocks(context, this.cells, size);
    context.lineWidth = size / 14;
    trace(context, this.strokes, ([x, y]) => [x * size, y * size]);
    if (this.pen) {
      const [x, y] = this.pen.at;
      context.strokeStyle = colours.outlineColor;
      context.lineWidth = size / 90;
      context.beginPath();
      context.arc(x * size, y * size, size / 22, 0, 7);
      context.stroke();
    }
    const seen = this.small.getContext("2d");
    seen.clearRect(0, 0, this.small.width, this.small.height);
    seen.fillStyle = colours.color;
    if (this.cells) blocks(seen, this.cells, this.small.width);
  }
}

function blocks(context, cells, size) {
  const side = size / 8;
  cells.forEach((ink, i) => {
    context.globalAlpha = ink;
    context.fillRect((i % 8) * side, Math.floor(i / 8) * side, side, side);
  });
  context.globalAlpha = 1;
}
