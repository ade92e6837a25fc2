// A training step that Kameleon has exported as ONNX: the values of its variables are kept here, and
// fed back. It needs two files: the model, and what `export(..., defaults=False)` writes beside it.
import * as ort from "./ort/ort.wasm.bundle.min.mjs";

ort.env.wasm.numThreads = 1; // several would need headers that plain servers don't send
ort.env.logLevel = "error";

// By a dtype's name in files: its name here, and its arrays.
const KINDS = {
  F32: ["float32", Float32Array],
  F64: ["float64", Float64Array],
  I8: ["int8", Int8Array],
  I16: ["int16", Int16Array],
  I32: ["int32", Int32Array],
  I64: ["int64", BigInt64Array],
  U8: ["uint8", Uint8Array],
  U16: ["uint16", Uint16Array],
  U32: ["uint32", Uint32Array],
  U64: ["uint64", BigUint64Array],
  BOOL: ["bool", Uint8Array],
};
const PHASE = "keras_learning_phase";

async function bytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

// What a file of the format safetensors holds: tensors, and texts.
function unpacked(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: texts, ...told } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [first, last] }] of Object.entries(told)) {
    const [type, kind] = KINDS[dtype];
    tensors[name] = new ort.Tensor(type, new kind(buffer.slice(8 + length + first, 8 + length + last)), shape);
  }
  return { tensors, texts };
}

const phase = (value) => new ort.Tensor("int32", Int32Array.of(value), []);

export class Model {
  static async load(address) {
    const [model, begin] = await Promise.all([bytes(address), bytes(`${address}.safetensors`)]);
    const session = await ort.InferenceSession.create(new Uint8Array(model), { logSeverityLevel: 3 });
    return new Model(session, unpacked(begin));
  }

  constructor(session, { tensors, texts }) {
    this.session = session;
    this.begin = tensors;
    this.updates = Object.entries(JSON.parse(texts["kameleon.updates"])); // by input, the output to feed back
    this.reset();
  }

  reset() {
    this.state = { ...this.begin };
  }

  #inputs(images, labels) {
    const count = images.length / 64;
    return {
      ...this.state,
      images: new ort.Tensor("float32", images, [count, 8, 8, 1]),
      labels: new ort.Tensor("int32", labels, [count]),
    };
  }

  // Learn from a batch; its loss.
  async learn(images, labels) {
    const found = await this.session.run({ ...this.#inputs(images, labels), [PHASE]: phase(1) });
    for (const [input, output] of this.updates) this.state[input] = found[output];
    return found.loss.data[0];
  }

  // Ten probabilities for each image. What the step would make of its variables isn't asked for.
  async predict(images) {
    const feeds = { ...this.#inputs(images, new Int32Array(images.length / 64)), [PHASE]: phase(0) };
    const { probabilities } = await this.session.run(feeds, ["probabilities"]);
    return probabilities.data;
  }
}
