// Opens the page in a headless Chromium, trains every environment and algorithm there, and compares with the native program:
// `node test.mjs FOLDER`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openBrowser } from "./browser.mjs";
import { serve } from "./serve.mjs";

const folder = process.argv[2];
const native = (...words) => execFileSync(join(folder, "native"), words.map(String), { encoding: "utf8" }).trim();
const published = /"cartpole", 0x([0-9a-f]{16})/.exec(readFileSync(new URL("../shared/hashes.h", import.meta.url), "utf8"))[1];
const module = new WebAssembly.Module(readFileSync(join(folder, "web.wasm")));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module imports something");

// Numbers of actions, which TD3 needs and learners of Q cannot have.
const continuous = ["pendulum", "pendulumnovel", "mountaincarcontinuous", "pointreach"];
const fits = (world, algorithm) =>
  continuous.includes(world) ? !["dqn", "pqn", "stream_q"].includes(algorithm) : algorithm !== "td3";

const server = await serve(folder), page = `http://127.0.0.1:${server.address().port}/`;
let browser;
try {
  browser = await openBrowser();
  const { ask, until, open, resize, screenshot } = browser;
  const click = (selector) => ask(`document.querySelector("${selector}").click()`);
  const choose = (id, value) => ask(`(() => { const s = document.getElementById("${id}"); s.value = "${value}";
    s.dispatchEvent(new Event("change")); })()`);
  const colors = (id) => ask(`(() => { const c = document.getElementById("${id}");
    const read = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
    read.drawImage(c, 0, 0);
    const p = new Uint32Array(read.getImageData(0, 0, c.width, c.height).data.buffer);
    const count = new Map(); for (const x of p) count.set(x, (count.get(x) ?? 0) + 1);
    return [...count.values()].filter((n) => n > 50).length; })()`);
  const narrow = async (what) =>
    assert.ok(await ask("document.documentElement.scrollWidth <= innerWidth"), `${what} is wider than the window`);
  const stats = () => ask("state.stats");

  // ---- The published training, and a pause

  await resize(1280, 1100);
  await open(page + "?ms=2");
  await until("Number(document.documentElement.dataset.points) > 5", "training begins");
  await click("#pause");
  const held = await ask("document.getElementById('steps').textContent");
  const frames = await ask("state.frames");
  await until(`state.frames > ${frames} + 5`, "frames go on while the training rests");
  assert.equal(await ask("document.getElementById('steps').textContent"), held, "it trained while paused");
  await screenshot(join(folder, "training.png"));
  await narrow("the page at 1280");
  assert.deepEqual(await ask(`[...document.querySelectorAll("input, select, button")].filter((x) => !x.labels.length &&
    !x.textContent.trim()).map((x) => x.id)`), [], "a control has no label");
  await click("#pause");
  await ask("(document.getElementById('effort').value = 12)");
  await until("state.done", "the training ends");
  const end = await ask("state");
  assert.ok(end.solvedAt > 0, "a mean return of 475 was never reached");
  assert.equal(end.imports, 0);
  assert.equal(end.hash, published, "other bits than the published ones");
  assert.equal(end.hash, native(1), "other bits than the native program");
  assert.match(await ask("document.getElementById('result').textContent"), /the same bits as a native program/);
  assert.ok(end.frames > 50, `only ${end.frames} frames: the page froze`);
  assert.ok(await colors("stage") >= 3, "the cart is not drawn");
  assert.ok(await colors("curve") >= 3, "the curve is not drawn");
  await sleep(300);
  await screenshot(join(folder, "done.png"));

  // ---- The same bits as the native program

  const alike = [["7", "cartpole", "ppo", 0], ["1", "cartpole", "stream_q", 3000], ["2", "pendulum", "td3", 1500], ["3", "catch", "impala", 4000],
    ["1", "repeat", "a2c", 4000], ["5", "cartpole", "dqn", 3000], ["1", "maze", "unreal", 400], ["1", "breakout", "pqn", 1000]];
  for (const [seed, world, algorithm, steps] of alike) {
    await open(`${page}?env=${world}&algorithm=${algorithm}&seed=${seed}&steps=${steps}&ms=14`);
    await until("state.done", `${algorithm} in ${world} ends`);
    assert.equal(await ask("state.hash"), native(seed, world, algorithm, steps), `${algorithm} in ${world}: other bits than the native program`);
  }

  // ---- Every environment, every algorithm

  await open(page + "?ms=12");
  await until("window.state?.frames > 2", "the page begins");
  const values = (id) => ask(`[...document.getElementById("${id}").options].map((o) => o.value)`);
  const worlds = await values("world"), algorithms = await values("algorithm");
  assert.deepEqual([worlds.length, algorithms.length], [27, 10]);
  const tried = async (what) => {
    // Long rollouts of pictures take long: with short ones the same code runs.
    await ask("sliderValue('num_steps') * sliderValue('num_envs') >= 4096 && state.algorithm === 'ppo' && setSlider('num_steps', 32)");
    await until("state.frames > 3 && state.stats.updates >= 2", `two updates of ${what}`);
    assert.equal(await ask("state.refused"), "", what);
  };
  const without = [];
  for (const world of worlds) {
    await choose("world", world);
    assert.equal(await ask("state.world"), world);
    await tried(world);
    const told = await ask("[...document.getElementById('algorithm').options].map((o) => o.textContent.includes('not with'))");
    assert.deepEqual(told, algorithms.map((algorithm) => !fits(world, algorithm)), `algorithms that do not fit ${world}`);
    const pace = await ask("state.frames");
    await until(`state.frames > ${pace} + 13`, "a step on display");
    assert.ok(await colors("stage") >= 2, `${world} is not drawn`);
    if (!await ask("document.getElementById('stage').classList.contains('drawn')")) without.push(world);
  }
  assert.ok(without.every((world) => /probe|repeat|bitflip/.test(world)) && without.length === 12, `no drawing: ${without}`);
  for (const algorithm of algorithms) {
    await choose("world", algorithm === "td3" ? "pendulum" : "cartpole");
    await choose("algorithm", algorithm);
    assert.equal(await ask("state.algorithm"), algorithm);
    await tried(algorithm);
  }
  await click("#explore");
  await tried("exploring on display");

  // ---- Refusals are sentences, and the training goes on

  await choose("world", "cartpole");
  await tried("cartpole");
  const before = (await stats()).steps;
  await choose("algorithm", "td3");
  assert.match(await ask("state.refused"), /^RLCORE_E_CONFIG: .*actions/);
  assert.equal(await ask("document.getElementById('algorithm').value"), "ppo");
  await until(`state.stats.steps > ${before} + 500`, "the training goes on after a refusal");

  await open(page + "?env=pendulum&algorithm=dqn");
  await until("window.state?.stats?.steps > 0", "another algorithm runs in place of one that is refused");
  assert.match(await ask("state.refused"), /^RLCORE_E_CONFIG: .*actions/);
  await open(page + "?ms=12");
  await until("window.state?.frames > 2", "the page begins");

  // ---- Sliders change a training that goes on

  const slide = (name, value) => ask(`setSlider("${name}", ${value})`);
  await choose("world", "cartpole");
  await ask("(state.refused = '', setSlider('total_steps', 10000000))");
  await tried("cartpole");
  const slider = "document.querySelector('label[title=learning_rate] input')";
  await ask(`(() => { const s = ${slider}; s.value = 100; s.dispatchEvent(new Event("input")); })()`);
  await until("state.stats.rate > 0.0005 && state.stats.rate < 0.0015", "another learning rate");
  assert.equal(await ask(`${slider}.getAttribute("aria-valuetext")`), "0.001");
  const middle = await stats();
  assert.ok(await slide("num_envs", 16), "more environments");
  await until(`state.stats.updates > ${middle.updates} + 3`, "updates with more environments");
  assert.ok((await stats()).episodes >= middle.episodes, "episodes were forgotten");
  assert.ok(Number(await ask("document.documentElement.dataset.points")) > 3, "the curve was forgotten");
  assert.equal(await slide("num_steps", 63), true);
  assert.equal(await slide("num_minibatches", 32), false, "63 * 16 rows in 32 minibatches");
  assert.match(await ask("state.refused"), /^RLCORE_E_CONFIG: .*minibatch/);
  await slide("hidden_len[0]", 32);
  await until("state.stats.updates >= 2 && state.stats.steps < 100000", "a learner with other layers starts over");
  for (const world of ["pendulum", "bitflip"]) { // stores are adopted, too
    await choose("world", world);
    if (world === "pendulum") await choose("algorithm", "sac");
    await until("state.stats.updates > 100", `${world} learns`);
    const { updates } = await stats();
    assert.ok(await slide("batch_size", 64) && await slide("target_rate", 0.01));
    await until(`state.stats.updates > ${updates} + 50`, `${world} goes on with other batches`);
  }

  // ---- Files

  await open(`${page}?seed=9&steps=20000&ms=2`);
  await until("state.stats.steps > 3000", "something to save");
  await ask("(window.kept = bytesOf(0), window.spoilt = kept.slice(), spoilt[spoilt.length >> 1] ^= 1, state.stats.steps)");
  assert.equal(await ask("load(spoilt)"), false, "damaged bytes were taken");
  assert.match(await ask("state.refused"), /^RLCORE_E_IMAGE: ./);
  assert.equal(await ask("load(kept.slice(0, 5000))"), false, "a part of the bytes was taken");
  await until("state.stats.steps > 8000", "the training goes on");
  await choose("world", "catch");
  await tried("catch");
  assert.ok(await ask("load(kept)"), "saved bytes were refused");
  assert.ok((await stats()).steps < 8000, "it does not go on from the save");
  await until("state.done", "the saved training ends");
  assert.equal(await ask("state.hash"), native(9, "cartpole", "ppo", 20000), "a saved training ends with other bits");
  const files = await ask("[1, 2, 3].map((kind) => new TextDecoder('latin1').decode(bytesOf(kind)))");
  assert.match(files[1], /Gemm|MatMul/, "no file of ONNX");
  assert.match(files[2], /policy_act\(/, "no file of C");

  // ---- In frames and narrow windows

  for (const [width, height] of [[1280, 520], [390, 760]]) {
    await resize(width, height);
    const begin = Date.now();
    await open(page + "?embed");
    await until("Number(document.documentElement.dataset.points) > 0", "a first point");
    console.log(`embedded at ${width}: a first point ${Date.now() - begin} ms after the address, ${Math.round(await ask("state.firstPoint"))} ms in the page`);
    await until("state.frames > 60", "frames");
    await narrow(`the embedded page at ${width}`);
    assert.ok(await ask("document.documentElement.scrollHeight <= innerHeight"), `the embedded page is higher than ${height}`);
    await screenshot(join(folder, `embed-${width}.png`));
  }
  await resize(390, 900);
  await open(page + "?env=breakout");
  await until("window.state?.frames > 10", "frames");
  await narrow("the page at 390");
  await screenshot(join(folder, "narrow.png"));

  assert.deepEqual(await browser.complaints(), [], "the console is not empty");
  console.log(`solved after ${end.solvedAt} steps, ${end.frames} frames, the longest ${Math.round(end.longest)} ms`);
  console.log(`ok: no imports; ${worlds.length} environments, ${algorithms.length} algorithms; ` +
    `the published bits, and the native ones of ${alike.length + 2} trainings, in ${browser.name}`);
} finally {
  await browser?.close();
  server.close();
}
