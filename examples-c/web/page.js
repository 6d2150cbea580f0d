// Runs the module between frames, draws what it says, and never does more than a frame allows.
const $ = (id) => document.getElementById(id);
const { instance, module } = await WebAssembly.instantiateStreaming(fetch("web.wasm"), {});
const web = instance.exports;
const goal = 475, best = 500;

// What the page is doing; the test reads it too.
const state = { running: false, done: false, failed: "", frames: 0, longest: 0, solvedAt: 0, curve: [], hash: "",
                imports: WebAssembly.Module.imports(module).length };
window.state = state;
let worked = 0, last = 0;

function text(pointer) {
  const bytes = new Uint8Array(web.memory.buffer, pointer, 256);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

function check(status) {
  if (status < 0) throw new Error(text(web.web_error()) || `status ${status}`);
  return status;
}

function hash(value) {
  return BigInt.asUintN(64, value).toString(16).padStart(16, "0");
}

function start() {
  const seed = Math.min(Math.max(Math.trunc(Number($("seed").value)) || 0, 0), 4294967295);
  $("seed").value = seed;
  check(web.web_start(seed));
  Object.assign(state, { running: true, done: false, solvedAt: 0, curve: [], hash: "", seed });
  worked = 0;
  $("pause").disabled = false;
  $("pause").textContent = "Pause";
  say("");
}

function say(words, good = false) {
  $("result").innerHTML = words;
  $("result").classList.toggle("good", good);
}

// One frame's share of the training.
function work(milliseconds) {
  const begin = performance.now();
  let left = 1, now = begin;
  while (left && now - begin < milliseconds) {
    for (let i = 0; i < 8 && left; i++) left = check(web.web_work());
    now = performance.now();
  }
  worked += now - begin;
  const steps = web.web_steps(), before = state.curve.at(-1)?.[0] ?? 0;
  if (steps > before && web.web_episodes() > 0) state.curve.push([steps, web.web_return()]);
  if (!state.solvedAt && web.web_episodes() >= 100 && web.web_return() >= goal) {
    state.solvedAt = steps;
    say(`Solved after ${steps.toLocaleString("en")} steps; a few more make it steady.`);
  }
  if (!left) finish();
}

function finish() {
  Object.assign(state, { running: false, done: true, hash: hash(web.web_hash()), published: hash(web.web_published_hash()) });
  $("pause").disabled = true;
  const solved = state.solvedAt ? `Solved after ${state.solvedAt.toLocaleString("en")} steps. ` : "Not solved with this seed. ";
  const bits = `Hash of the parameters: <code>${state.hash}</code>. `;
  const same = state.hash === state.published;
  const verdict = state.seed !== 1 ? "The same on every processor; a published one to compare with exists for seed 1."
    : same ? "It is the published one: this browser computed the same bits as a native program."
    : `The published one is <code>${state.published}</code>: not the same bits.`;
  say(solved + bits + verdict, same || state.seed !== 1);
}

function drawStage() {
  check(web.web_watch());
  const canvas = $("stage"), width = web.web_picture_width(), height = web.web_picture_height();
  if (canvas.width !== width) Object.assign(canvas, { width, height });
  const pixels = new Uint8ClampedArray(web.memory.buffer, web.web_picture(), width * height * 4);
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
}

function drawCurve() {
  const canvas = $("curve"), scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const [w, h] = [Math.round(box.width * scale), Math.round(box.height * scale)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
  const c = canvas.getContext("2d"), left = 40 * scale, right = w - 14 * scale, top = 10 * scale, bottom = h - 26 * scale;
  const x = (steps) => left + (right - left) * steps / web.web_total_steps();
  const y = (value) => bottom - (bottom - top) * value / best;
  c.clearRect(0, 0, w, h);
  c.lineWidth = scale;
  c.font = `${12 * scale}px system-ui, sans-serif`;
  c.textBaseline = "middle";
  for (let value = 0; value <= best; value += 100) {
    c.strokeStyle = color("--line");
    c.beginPath(), c.moveTo(left, y(value)), c.lineTo(right, y(value)), c.stroke();
    c.fillStyle = color("--soft");
    c.textAlign = "right";
    c.fillText(value, left - 8 * scale, y(value));
  }
  c.textAlign = "center";
  for (let steps = 0; steps <= web.web_total_steps(); steps += 25000)
    c.fillText(steps ? `${steps / 1000}k` : "0", Math.min(x(steps), right - 8 * scale), bottom + 14 * scale);
  c.strokeStyle = color("--good");
  c.setLineDash([5 * scale, 4 * scale]);
  c.beginPath(), c.moveTo(left, y(goal)), c.lineTo(right, y(goal)), c.stroke();
  c.setLineDash([]);
  c.strokeStyle = color("--accent");
  c.lineWidth = 2 * scale;
  c.lineJoin = "round";
  c.beginPath();
  for (const [steps, value] of state.curve) c.lineTo(x(Math.min(steps, web.web_total_steps())), y(value));
  c.stroke();
}

function frame(now) {
  try {
    if (state.running) work(Number($("effort").value));
    drawStage();
    drawCurve();
  } catch (error) {
    Object.assign(state, { running: false, failed: error.message });
    say(`Stopped: ${error.message}`);
    throw error;
  }
  $("steps").textContent = web.web_steps().toLocaleString("en");
  $("episodes").textContent = web.web_episodes().toLocaleString("en");
  $("return").textContent = web.web_return().toFixed(1);
  $("balanced").textContent = web.web_balanced();
  if (worked > 0) $("speed").textContent = Math.round(web.web_steps() / worked).toLocaleString("en") + "k";
  if (last) state.longest = Math.max(state.longest, now - last);
  last = now;
  state.frames++;
  requestAnimationFrame(frame);
}

$("pause").addEventListener("click", () => {
  state.running = !state.running;
  $("pause").textContent = state.running ? "Pause" : "Go on";
});
$("controls").addEventListener("submit", (event) => (event.preventDefault(), start()));
$("effort").addEventListener("input", () => { $("budget").textContent = `${$("effort").value} ms`; });
start();
requestAnimationFrame(frame);
