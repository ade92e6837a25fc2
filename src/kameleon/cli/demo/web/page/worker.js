// Training in a thread of its own, so that the page answers while it goes on. Calls come as
// {id, name, values}, and are done one after the other.
import { Model } from "./model.js";
import { Training } from "./training.js";

async function begun() {
  const [model, digits, course] = await Promise.all([
    Model.load("train.onnx"),
    fetch("digits.bin").then((answer) => answer.arrayBuffer()),
    fetch("course.json").then((answer) => answer.json()),
  ]);
  return new Training(model, digits, course);
}

const training = begun();
let last = training.catch(() => {}); // who calls is told
addEventListener("message", ({ data: { id, name, values } }) => {
  last = last.then(async () => {
    try {
      postMessage({ id, found: await (await training)[name](...values) });
    } catch (error) {
      postMessage({ id, error: String(error?.message ?? error) });
    }
  });
});
