// Run a program in Pyodide: node pyodide.mjs PYODIDE WHEEL PROGRAM [FOLDER]
// PYODIDE is npm's package, unpacked; NumPy comes from FOLDER, or from where Pyodide fetches it. Ends
// with the status 77 where NumPy can't be had.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (error) => {
  console.error(error.message); // without the line of Pyodide's, which has a million characters
  process.exit(1);
});
const [folder, wheel, program, packages] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const pyodide = await loadPyodide({ ...(packages && { packageBaseUrl: packages }), checkIntegrity: true });
const run = (code) => {
  try {
    return pyodide.runPython(code);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
};
pyodide.unpackArchive(Uint8Array.from(readFileSync(wheel)), "wheel");
run(readFileSync(`${program}/lacks.py`, "utf-8"));
await pyodide.loadPackage("numpy", { errorCallback: () => {}, messageCallback: () => {} }).catch(() => {});
if (run("__import__('importlib.util').util.find_spec('numpy') is None")) process.exit(77);
run(readFileSync(`${program}/trains.py`, "utf-8"));
