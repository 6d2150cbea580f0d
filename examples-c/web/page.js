// Runs the module between frames, draws what it says, and never does more than a frame allows.
const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const embedded = asked.has("embed"), root = document.documentElement;
root.classList.toggle("embed", embedded);
const { instance, module } = await WebAssembly.instantiateStreaming(fetch("web.wasm"), {});
const web = instance.exports;

// As in web.h and sliders.h.
const STATS = ["steps", "updates", "episodes", "return", "length", "policyLoss", "valueLoss", "entropy", "kl", "norm", "rate",
  "exploration", "temperature", "dropped", "total"];
const REFUSED = 2, LINEAR = 0, LOG = 1, LOG_OR_ZERO = 2, BELOW_ONE = 3, DOUBLING = 4;
const TRAINING = 0, POLICY = 1, ONNX = 2, C = 3;

// What the page is doing; the test reads it too.
const state = { running: false, done: false, failed: "", frames: 0, longest: 0, solvedAt: 0, hash: "", published: "",
  imports: WebAssembly.Module.imports(module).length, firstPoint: 0, refused: "" };
window.state = state;
let worked = 0, workedFrom = 0, last = 0, stats = {}, points = [];

function text(pointer) {
  const bytes = new Uint8Array(web.memory.buffer, pointer, 512);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

const reason = () => text(web.web_error());

function check(status) {
  if (status < 0) throw new Error(reason() || `status ${status}`);
  return status;
}

const hash = (value) => BigInt.asUintN(64, value).toString(16).padStart(16, "0");
const list = (count, name) => Array.from({ length: count }, (_, i) => text(name(i)));

function say(words, kind = "") {
  $("result").textContent = words;
  $("result").className = kind;
}

function refuse() {
  state.refused = reason();
  say(`Refused: ${state.refused}`, "bad");
}

function readStats() {
  const numbers = new Float64Array(web.memory.buffer, web.web_stats(), STATS.length);
  stats = Object.fromEntries(STATS.map((name, i) => [name, numbers[i]]));
  const pairs = new Float64Array(web.memory.buffer, web.web_points(), 2 * web.web_num_points());
  points = Array.from({ length: pairs.length / 2 }, (_, i) => [pairs[2 * i], pairs[2 * i + 1]]);
  if (points.length && !state.firstPoint) state.firstPoint = performance.now();
  state.stats = stats;
  root.dataset.points = points.length;
}

// ---- Choices

const worlds = list(web.web_num_worlds(), web.web_world_name), algorithms = list(web.web_num_algorithms(), web.web_algorithm_name);

function option(value, title) {
  return Object.assign(document.createElement("option"), { value, textContent: title });
}

function fillChoices() {
  worlds.forEach((name, i) => $("world").append(option(name, text(web.web_world_title(i)))));
  algorithms.forEach((name) => $("algorithm").append(option(name, "")));
}

// Selects show what runs; algorithms that cannot be had with the environment say so.
function showChoices() {
  const world = web.web_world();
  $("world").value = worlds[world];
  $("algorithm").value = algorithms[web.web_algorithm()];
  for (const [i, choice] of [...$("algorithm").options].entries())
    choice.textContent = text(web.web_algorithm_title(i)) + (web.web_fits(world, i) < 0 ? " (not with these actions)" : "");
  $("about").textContent = text(web.web_world_about(world));
  $("seed").value = web.web_seed();
  const goal = web.web_goal();
  $("dashed").textContent = Number.isNaN(goal) ? "" : `; dashed: ${goal}, which counts as solved`;
  $("whole").href = `index.html?env=${worlds[world]}&algorithm=${algorithms[web.web_algorithm()]}`;
  showSliders();
}

// Something else runs from now on.
function begun() {
  Object.assign(state, { running: true, done: false, solvedAt: 0, hash: "", published: "", refused: "", seed: web.web_seed(),
    world: worlds[web.web_world()], algorithm: algorithms[web.web_algorithm()] });
  readStats();
  worked = 0;
  workedFrom = stats.steps;
  $("pause").disabled = false;
  $("pause").textContent = "Pause";
  showChoices();
}

function start(world, algorithm) {
  const seed = Math.min(Math.max(Math.trunc(Number($("seed").value)) || 0, 0), 4294967295);
  if (web.web_start(world, algorithm, seed) < 0) {
    refuse();
    if (state.world) showChoices();
    return false;
  }
  say("");
  begun();
  return true;
}

// ---- Sliders

const FINE = 200;

function fromPosition(i, at) {
  const low = web.web_slider_low(i), high = web.web_slider_high(i), part = at / FINE;
  switch (web.web_slider_run(i)) {
    case LINEAR: return low + (high - low) * part;
    case LOG: return low * (high / low) ** part;
    case LOG_OR_ZERO: return at === 0 ? 0 : low * (high / low) ** ((at - 1) / (FINE - 1));
    case BELOW_ONE: return 1 - (1 - low) * ((1 - high) / (1 - low)) ** part;
    default: return low * 2 ** at;
  }
}

function toPosition(i, value) {
  const low = web.web_slider_low(i), high = web.web_slider_high(i);
  switch (web.web_slider_run(i)) {
    case LINEAR: return FINE * (value - low) / (high - low);
    case LOG: return FINE * Math.log(value / low) / Math.log(high / low);
    case LOG_OR_ZERO: return value < low ? 0 : 1 + (FINE - 1) * Math.log(value / low) / Math.log(high / low);
    case BELOW_ONE: return FINE * Math.log((1 - value) / (1 - low)) / Math.log((1 - high) / (1 - low));
    default: return Math.log2(value / low);
  }
}

// Three digits, of a number near 1 three of its distance from 1.
function brief(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value > 0.9 && value < 1) return String(1 - Number((1 - value).toPrecision(2))).slice(0, 9);
  return String(Number(value.toPrecision(3)));
}

function showSlider(i) {
  const input = $(`slider-${i}`), value = web.web_slider_value(i);
  input.value = Math.round(toPosition(i, value));
  input.setAttribute("aria-valuetext", brief(value));
  input.labels[0].querySelector("output").textContent = brief(value);
}

function showSliders() {
  for (const input of $("sliders").querySelectorAll("input")) {
    const i = Number(input.dataset.slider), used = web.web_slider_used(i) !== 0;
    input.closest("label").hidden = !used;
    input.closest("label").style.display = used ? "" : "none";
    if (used) showSlider(i);
  }
}

// Returns whether it was taken.
function setSlider(i, value) {
  const over = web.web_world(), steps = stats.steps;
  if (web.web_slider_set(i, value) < 0) {
    refuse();
    showSlider(i);
    return false;
  }
  if ($("result").className === "bad") say("");
  readStats();
  if (stats.steps < steps || over !== web.web_world()) begun();
  else if (state.done && stats.steps < web.web_slider_value(i) && text(web.web_slider_name(i)) === "total_steps") {
    Object.assign(state, { done: false, running: true });
    $("pause").disabled = false;
    say("");
  }
  showSlider(i);
  return true;
}
const sliderOf = (name) => list(web.web_num_sliders(), web.web_slider_name).indexOf(name);
Object.assign(window, { setSlider: (name, value) => setSlider(sliderOf(name), value),
  sliderValue: (name) => web.web_slider_value(sliderOf(name)) });

function fillSliders() {
  for (let i = 0; i < web.web_num_sliders(); i++) {
    const label = document.createElement("label"), words = document.createElement("span"), input = document.createElement("input");
    const doubles = web.web_slider_run(i) === DOUBLING;
    words.append(text(web.web_slider_label(i)), document.createElement("output"));
    Object.assign(input, { id: `slider-${i}`, type: "range", min: 0, step: 1,
      max: doubles ? Math.round(Math.log2(web.web_slider_high(i) / web.web_slider_low(i))) : FINE });
    input.dataset.slider = i;
    label.htmlFor = input.id; // an output can be labeled, too
    label.title = text(web.web_slider_name(i));
    // Lengths wait until the slider is let go.
    const waits = doubles || text(web.web_slider_name(i)) === "num_steps";
    input.addEventListener("input", () => {
      if (!waits) setSlider(i, fromPosition(i, Number(input.value)));
      else words.lastChild.textContent = brief(Math.round(fromPosition(i, Number(input.value))));
    });
    if (waits) input.addEventListener("change", () => setSlider(i, fromPosition(i, Number(input.value))));
    label.append(words, input);
    $("sliders").append(label);
  }
}

// ---- Work

// One frame's share of the training; 0 milliseconds are one step.
function work(milliseconds) {
  const begin = performance.now();
  let left = 1, now = begin;
  do {
    for (let i = 0; i < (milliseconds ? 8 : 1) && left; i++) {
      left = check(web.web_work());
      if (left === REFUSED) refuse(), showSliders();
      if (performance.now() - begin > 30) break;
    }
    now = performance.now();
  } while (left && now - begin < milliseconds);
  worked += now - begin;
  readStats();
  const goal = web.web_goal();
  if (!state.solvedAt && stats.episodes >= 100 && stats.return >= goal) {
    state.solvedAt = stats.steps;
    say(`Solved after ${stats.steps.toLocaleString("en")} steps; a few more make it steady.`, "good");
  }
  if (!left) finish();
}

function finish() {
  const published = web.web_published_hash();
  Object.assign(state, { running: false, done: true, hash: hash(web.web_hash()), published: published ? hash(published) : "" });
  $("pause").disabled = true;
  const solved = state.solvedAt ? `Solved after ${state.solvedAt.toLocaleString("en")} steps. ` : "";
  const same = state.hash === state.published;
  const verdict = !state.published ? "The same on every processor."
    : same ? "It is the published one: this browser computed the same bits as a native program."
    : `The published one is ${state.published}: not the same bits.`;
  say(`${solved}Hash of the parameters: ${state.hash}. ${verdict}`, same || !state.published ? "good" : "bad");
}

// ---- Pictures

const color = (name) => getComputedStyle(root).getPropertyValue(name);

// Gives a canvas as many pixels as it covers. Returns its context and size.
function fit(canvas) {
  const scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const [w, h] = [Math.max(Math.round(box.width * scale), 1), Math.max(Math.round(box.height * scale), 1)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const c = canvas.getContext("2d");
  c.clearRect(0, 0, w, h);
  return { c, w, h, scale };
}

function drawStage() {
  const canvas = $("stage"), width = web.web_picture_width(), height = web.web_picture_height();
  canvas.classList.toggle("drawn", width > 0);
  if (width === 0) return drawNumbers(canvas);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pixels = new Uint8ClampedArray(web.memory.buffer, web.web_picture(), width * height * 4);
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
}

// Bars of an observation, for environments without a drawing, and the action below them.
function drawNumbers(canvas) {
  const { c, w, h, scale } = fit(canvas), count = web.web_obs_len();
  const values = Array.from({ length: count }, (_, i) => web.web_obs(i)), most = Math.max(1, ...values.map(Math.abs));
  const actions = Array.from({ length: web.web_action_len() }, (_, i) => brief(web.web_action(i)));
  const left = 14 * scale, room = (w - 2 * left) / count, middle = h * 0.46, tall = h * 0.36;
  c.fillStyle = color("--line");
  c.fillRect(left, middle, w - 2 * left, scale);
  c.font = `${13 * scale}px system-ui, sans-serif`;
  c.textAlign = "center";
  values.forEach((value, i) => {
    const wide = Math.min(room * 0.7, 56 * scale), x = left + room * (i + 0.5);
    c.fillStyle = color("--accent");
    c.fillRect(x - wide / 2, middle, wide, -tall * value / most || scale);
    c.fillStyle = color("--soft");
    c.fillText(brief(value), x, middle + (value < 0 ? -8 : 18) * scale);
  });
  c.fillStyle = color("--ink");
  c.font = `${15 * scale}px system-ui, sans-serif`;
  c.fillText(`observation above, action ${actions.join(", ")}`, w / 2, h - 18 * scale);
}

// The least of 1, 2 and 5 times a power of ten that is at least value.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= value * 0.999999) ?? 10 * power;
}

function short(value) {
  const size = Math.abs(value);
  return size >= 1e6 ? `${brief(value / 1e6)}M` : size >= 1e4 ? `${brief(value / 1e3)}k` : brief(value);
}

function drawCurve() {
  const { c, w, h, scale } = fit($("curve")), goal = web.web_goal();
  const left = 52 * scale, right = w - 16 * scale, top = 10 * scale, bottom = h - 26 * scale;
  const seen = points.map((p) => p[1]).filter(Number.isFinite).concat(Number.isNaN(goal) ? [] : [goal]);
  const least = Math.min(0, ...seen), most = Math.max(least + 1e-6, ...(least < 0 ? [] : [1e-6]), ...seen);
  const step = nice((most - least) / 5), low = Math.floor(least / step) * step, high = Math.ceil(most / step - 1e-9) * step;
  const far = Math.min(stats.total || Infinity, nice(Math.max(stats.steps * 1.2, 500)));
  const x = (steps) => left + (right - left) * steps / far;
  const y = (value) => bottom - (bottom - top) * (value - low) / (high - low || 1);
  c.lineWidth = scale;
  c.font = `${12 * scale}px system-ui, sans-serif`;
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (let k = 0; k <= Math.round((high - low) / step); k++) {
    const value = low + k * step;
    c.strokeStyle = color("--line");
    c.beginPath(), c.moveTo(left, y(value)), c.lineTo(right, y(value)), c.stroke();
    c.fillStyle = color("--soft");
    c.fillText(short(Number(value.toPrecision(6))), left - 8 * scale, y(value));
  }
  c.textAlign = "center";
  const every = nice(far / 5);
  for (let steps = 0; steps <= far * 1.0001; steps += every)
    c.fillText(short(steps), Math.min(x(steps), right - 8 * scale), bottom + 14 * scale);
  if (!Number.isNaN(goal)) {
    c.strokeStyle = color("--good");
    c.setLineDash([5 * scale, 4 * scale]);
    c.beginPath(), c.moveTo(left, y(goal)), c.lineTo(right, y(goal)), c.stroke();
    c.setLineDash([]);
  }
  c.strokeStyle = color("--accent");
  c.lineWidth = 2 * scale;
  c.lineJoin = "round";
  c.beginPath();
  for (const [steps, value] of points) if (steps <= far) c.lineTo(x(steps), y(value));
  c.stroke();
  const now = points.at(-1);
  if (!now) return;
  c.fillStyle = color("--accent");
  c.beginPath(), c.arc(x(Math.min(now[0], far)), y(now[1]), 3.5 * scale, 0, 2 * Math.PI), c.fill();
}

// ---- Frames

const known = (value, words) => (Number.isNaN(value) ? "–" : words(value));

function frame(now) {
  const slow = matchMedia("(prefers-reduced-motion: reduce)").matches ? 6 : 1;
  try {
    if (state.running) work(Number($("effort").value));
    if (state.frames % (web.web_pace() * slow) === 0) {
      check(web.web_watch($("explore").checked ? 1 : 0));
      drawStage();
    }
    if (state.frames % 2 === 0) drawCurve();
  } catch (error) {
    Object.assign(state, { running: false, failed: error.message });
    say(`Stopped: ${error.message}`, "bad");
    throw error;
  }
  $("steps").textContent = stats.steps.toLocaleString("en");
  $("episodes").textContent = stats.episodes.toLocaleString("en");
  $("updates").textContent = stats.updates.toLocaleString("en");
  $("return").textContent = known(stats.return, (value) => value.toFixed(Math.abs(value) < 10 ? 2 : 1));
  $("value-loss").textContent = known(stats.valueLoss, (value) => value.toPrecision(3));
  $("entropy").textContent = known(stats.entropy, (value) => value.toFixed(3));
  $("exploration").textContent = known(stats.exploration, (value) => `${(100 * value).toFixed(1)}%`);
  const before = web.web_last_earned();
  $("episode").textContent = `Step ${web.web_played()}, return ${brief(web.web_earned())}` +
    (Number.isNaN(before) ? "." : `; the last episode: ${brief(before)} in ${web.web_last_played()} steps.`);
  if (worked > 0) $("speed").textContent = short(Math.round(1000 * (stats.steps - workedFrom) / worked));
  if (last) state.longest = Math.max(state.longest, now - last);
  last = now;
  state.frames++;
  requestAnimationFrame(frame);
}

// ---- Files

function bytesOf(kind) {
  const at = web.web_save(kind);
  return at ? new Uint8Array(web.memory.buffer, at, web.web_saved_size()).slice() : null;
}

function offer(kind, ending) {
  const bytes = bytesOf(kind);
  if (!bytes) return refuse();
  const link = document.createElement("a"), url = URL.createObjectURL(new Blob([bytes]));
  Object.assign(link, { href: url, download: `${state.world}-${state.algorithm}-${stats.steps}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Goes on from the bytes of a saved training. Returns whether they were taken.
function load(bytes) {
  const at = web.web_load_room(bytes.length);
  if (at) new Uint8Array(web.memory.buffer, at, bytes.length).set(bytes);
  if (!at || web.web_load(bytes.length) < 0) return refuse(), false;
  say("The saved training goes on.");
  begun();
  return true;
}
Object.assign(window, { bytesOf, load });

$("save").addEventListener("click", () => offer(TRAINING, "training"));
$("policy").addEventListener("click", () => offer(POLICY, "policy"));
$("onnx").addEventListener("click", () => offer(ONNX, "onnx"));
$("c").addEventListener("click", () => offer(C, "c"));
$("load").addEventListener("change", async () => {
  const [file] = $("load").files;
  if (file) load(new Uint8Array(await file.arrayBuffer()));
  $("load").value = "";
});

// ---- Controls

function showBudget() {
  const milliseconds = $("effort").value;
  $("budget").textContent = milliseconds === "0" ? "one step" : `${milliseconds} ms`;
}

$("pause").addEventListener("click", () => {
  state.running = !state.running;
  $("pause").textContent = state.running ? "Pause" : "Go on";
});
$("world").addEventListener("change", () => {
  const world = worlds.indexOf($("world").value);
  start(world, web.web_world_algorithm(world));
});
$("algorithm").addEventListener("change", () => start(web.web_world(), algorithms.indexOf($("algorithm").value)));
$("controls").addEventListener("submit", (event) => (event.preventDefault(), start(web.web_world(), web.web_algorithm())));
$("effort").addEventListener("input", showBudget);

fillChoices();
fillSliders();
const world = Math.max(worlds.indexOf(asked.get("env")), 0), algorithm = algorithms.indexOf(asked.get("algorithm"));
if (asked.has("seed")) $("seed").value = asked.get("seed");
$("effort").value = asked.get("ms") ?? (embedded ? 8 : 3);
showBudget();
web.web_until(Number(asked.get("steps") ?? 0));
if (!start(world, algorithm < 0 ? web.web_world_algorithm(world) : algorithm)) {
  const { refused } = state; // of the algorithm in the address; the environment's own runs in its place
  check(web.web_start(world, web.web_world_algorithm(world), Number($("seed").value)));
  begun();
  state.refused = refused;
  say(`Refused: ${refused}`, "bad");
}
requestAnimationFrame(frame);
