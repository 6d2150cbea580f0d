// A headless Chromium, driven by chromedriver over HTTP.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// Resolves to a window with ask, until, open, resize, screenshot, complaints and close.
export async function openBrowser({ dark = false } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "rlcore-web-"));
  const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((found, failed) => {
    let said = "";
    driver.on("exit", (code) => failed(new Error(`chromedriver left with ${code}: ${said}`)));
    driver.stdout.on("data", (data) => {
      const match = /started successfully on port (\d+)/.exec(said += data);
      if (match) found(match[1]);
    });
  });
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.message}`);
    return value;
  };
  let session;
  const close = async () => {
    if (session) await call("DELETE", session).catch(() => {});
    driver.removeAllListeners("exit");
    driver.kill();
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
      "--disable-background-networking", "--disable-sync", "--window-size=1280,900", `--user-data-dir=${profile}`,
      ...(dark ? ["--blink-settings=preferredColorScheme=0"] : [])];
    const { sessionId, capabilities } = await call("POST", "/session", { capabilities: { alwaysMatch: {
      browserName: "chrome", "goog:chromeOptions": { args }, "goog:loggingPrefs": { browser: "ALL" } } } });
    session = `/session/${sessionId}`;
    const ask = (script) => call("POST", `${session}/execute/sync`, { script: `return ${script}`, args: [] });
    const devtools = (cmd, params) => call("POST", `${session}/goog/cdp/execute`, { cmd, params });
    return {
      name: `${capabilities.browserName} ${capabilities.browserVersion}`,
      ask,
      close,
      // Waits until the script is true; fails with the reason if the page stops.
      async until(script, what, seconds = 90) {
        for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(50)) {
          const failed = await ask("window.state?.failed");
          if (failed) throw new Error(`the page stopped: ${failed}`);
          if (await ask(`window.state && (${script})`)) return;
        }
        throw new Error(`not within ${seconds} s: ${what}`);
      },
      open: (url) => call("POST", `${session}/url`, { url }),
      resize: (width, height) => devtools("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false }),
      async screenshot(file) {
        writeFileSync(file, Buffer.from(await call("GET", `${session}/screenshot`), "base64"));
      },
      complaints: async () => (await call("POST", `${session}/se/log`, { type: "browser" })).filter((entry) => entry.level !== "DEBUG"),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
