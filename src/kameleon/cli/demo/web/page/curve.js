// The losses of all steps, on a logarithmic scale: those of the page, and Python's.
const [WIDTH, HEIGHT] = [600, 200]; // of the view box
const [MOST, LEAST] = [4, 0.01];

const down = (loss) => (HEIGHT * Math.log(MOST / Math.max(loss, LEAST))) / Math.log(MOST / LEAST);

export class Curve {
  constructor(svg, expected) {
    this.svg = svg;
    this.expected = expected;
    for (const loss of [1, 0.1]) {
      const line = document.createElementNS(svg.namespaceURI, "path");
      line.setAttribute("class", "grid");
      line.setAttribute("d", `M0 ${down(loss)}H${WIDTH}`);
      svg.prepend(line);
    }
    this.show([]);
  }

  show(losses) {
    const last = Math.max(this.expected.length, losses.length) - 1;
    const path = (values) => values.map((loss, i) => `${i ? "L" : "M"}${((WIDTH * i) / last).toFixed(1)} ${down(loss).toFixed(1)}`).join("");
    this.svg.querySelector(".python").setAttribute("d", path(this.expected));
    this.svg.querySelector(".browser").setAttribute("d", path(losses));
  }
}
