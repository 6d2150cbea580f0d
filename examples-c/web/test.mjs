// Opens the page in a headless Chromium, lets it train, and compares with the native program: `node test.mjs FOLDER`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "./serve.mjs";

const folder = process.argv[2], seconds = 90;
const native = (seed) => execFileSync(join(folder, "native"), [String(seed)], { encoding: "utf8" }).trim();
const published = /"cartpole", 0x([0-9a-f]{16})/.exec(readFileSync(new URL("../shared/hashes.h", import.meta.url), "utf8"))[1];
const module = new WebAssembly.Module(readFileSync(join(folder, "web.wasm")));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module imports something");

const profile = mkdtempSync(join(tmpdir(), "rlcore-web-"));
const server = await serve(folder), page = `http://127.0.0.1:${server.address().port}/`;
const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "inherit"] });
const port = await new Promise((found, failed) => {
  let said = "";
  driver.on("exit", (code) => failed(new Error(`chromedriver left with ${code}: ${said}`)));
  driver.stdout.on("data", (data) => {
    const match = /started successfully on port (\d+)/.exec(said += data);
    if (match) found(match[1]);
  });
});

async function call(method, path, body) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${value.message}`);
  return value;
}

let session;
try {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--window-size=1120,900", `--user-data-dir=${profile}`];
  const { sessionId, capabilities } = await call("POST", "/session", { capabilities: { alwaysMatch: {
    browserName: "chrome", "goog:chromeOptions": { args }, "goog:loggingPrefs": { browser: "ALL" } } } });
  session = `/session/${sessionId}`;
  const ask = (script) => call("POST", `${session}/execute/sync`, { script: `return ${script}`, args: [] });
  const until = async (script, what) => {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(100)) {
      const failed = await ask("window.state?.failed");
      assert.ok(!failed, `the page stopped: ${failed}`);
      if (await ask(script)) return;
    }
    assert.fail(`not within ${seconds} s: ${what}`);
  };
  const click = (selector) => ask(`document.querySelector("${selector}").click()`);
  const colors = (id) => ask(`(() => { const c = document.getElementById("${id}");
    const p = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
    const count = new Map(); for (const x of p) count.set(x, (count.get(x) ?? 0) + 1);
    return [...count.values()].filter((n) => n > 50).length; })()`);
  const screenshot = async (name) =>
    writeFileSync(join(folder, name), Buffer.from(await call("GET", `${session}/screenshot`), "base64"));

  await call("POST", `${session}/url`, { url: page });
  await until("window.state?.curve.length > 20", "training begins");

  await click("#pause");
  const held = await ask("document.getElementById('steps').textContent");
  const frames = await ask("state.frames");
  await until(`state.frames > ${frames} + 5`, "frames go on while the training rests");
  assert.equal(await ask("document.getElementById('steps').textContent"), held, "it trained while paused");
  await screenshot("training.png");
  await click("#pause");

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
  await sleep(500);
  await screenshot("done.png");

  await ask("(document.getElementById('effort').value = 12, document.getElementById('seed').value = 7)");
  await click("#controls button[type=submit]");
  await until("state.done && state.seed === 7", "a second training with seed 7");
  assert.equal(await ask("state.hash"), native(7), "seed 7: other bits than the native program");

  const complaints = (await call("POST", `${session}/se/log`, { type: "browser" })).filter((entry) => entry.level !== "DEBUG");
  assert.deepEqual(complaints, [], "the console is not empty");
  console.log(`solved after ${end.solvedAt} steps, ${end.frames} frames, the longest ${Math.round(end.longest)} ms`);
  console.log(`ok: no imports; seeds 1 and 7 give the native bits in ${capabilities.browserName} ${capabilities.browserVersion}`);
} finally {
  if (session) await call("DELETE", session).catch(() => {});
  driver.removeAllListeners("exit");
  driver.kill();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
