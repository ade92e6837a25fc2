// Which digits the network sees: those that came with the page, in their order, and those that are
// drawn. Without the latter, these are the steps that Python takes.
const PIXELS = 64;
const SHARE = 4; // once there are drawn digits, every fourth of a batch is one

export class Training {
  constructor(model, digits, course) {
    const count = digits.byteLength / (PIXELS + 1);
    this.model = model;
    this.course = course;
    this.images = Float32Array.from(new Uint8Array(digits, 0, count * PIXELS), (ink) => ink / 16);
    this.labels = Int32Array.from(new Uint8Array(digits, count * PIXELS));
    this.reset();
  }

  reset() {
    this.model.reset();
    this.seen = 0; // digits that came with the page
    this.drawn = []; // [image, label]
    this.turn = 0;
  }

  // From now on, this digit is learnt, too.
  add(image, label) {
    this.drawn.unshift([Float32Array.from(image), label]);
  }

  // Take a step; its loss.
  step() {
    const { batch, training } = this.course;
    const images = new Float32Array(batch * PIXELS);
    const labels = new Int32Array(batch);
    for (let i = 0; i < batch; i++) {
      const own = this.drawn.length > 0 && i % SHARE === 0;
      const [image, label] = own ? this.drawn[this.turn++ % this.drawn.length] : this.#digit(this.seen++ % training);
      images.set(image, i * PIXELS);
      labels[i] = label;
    }
    return this.model.learn(images, labels);
  }

  #digit(at) {
    return [this.images.subarray(at * PIXELS, (at + 1) * PIXELS), this.labels[at]];
  }

  // Any digit that isn't learnt from: [image, label].
  heldOut() {
    const { training } = this.course;
    return this.#digit(training + Math.floor(Math.random() * (this.labels.length - training)));
  }

  predict(image) {
    return this.model.predict(Float32Array.from(image));
  }

  // The share of held-out digits that are read rightly.
  async accuracy() {
    const { training } = this.course;
    const found = await this.model.predict(this.images.slice(training * PIXELS));
    const labels = this.labels.subarray(training);
    const best = (row) => row.indexOf(Math.max(...row));
    return labels.filter((label, i) => best(found.subarray(10 * i, 10 * i + 10)) === label).length / labels.length;
  }
}
