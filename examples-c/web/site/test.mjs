// Looks at the site in a headless Chromium, as wide as a desk and as a phone: `node test.mjs SITE`. Screenshots are left beside it.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "../browser.mjs";
import { serve } from "../serve.mjs";

const site = process.argv[2], pictures = `${site}-pictures`, widths = { desktop: [1280, 900], phone: [390, 844] };
const shown = ["index", "guides/your-environment", "algorithms/ppo", "algorithms/index", "speed", "overview", "reference"];
mkdirSync(pictures, { recursive: true });
const pages = [...readFileSync(join(site, "toc.html"), "utf8").matchAll(/href="([^"#]+)\.html"/g)].map((match) => match[1]);
const listed = [...new Set(pages)].filter((page) => !page.startsWith("source"));
assert.ok(listed.length >= 30, `only ${listed.length} pages in the table of contents`);

const server = await serve(site), root = `http://127.0.0.1:${server.address().port}/`;
const browser = await openBrowser();
try {
  const { ask, until, open, resize, screenshot } = browser;
  const own = async (page) => {
    const foreign = await ask(`performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !name.startsWith("${root}") && !name.startsWith("data:"))`);
    assert.deepEqual(foreign, [], `${page} loads from another host`);
  };
  // Whether a page is wider than its window; if so: by which elements.
  const wide = `(() => { const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("main *, nav.top")].filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest(".table-wrapper, pre, .math"))
      .slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).concat(document.documentElement.scrollWidth + " pixels"); })()`;

  // The front page trains by itself.
  await resize(...widths.desktop);
  await open(root);
  const trainer = `document.querySelector("iframe.trainer").contentWindow`;
  await until(`${trainer}.state?.firstPoint > 0`, "the front page trains", 60);
  const seconds = await ask(`(performance.timeOrigin, (${trainer}.performance.timeOrigin - performance.timeOrigin + ${trainer}.state.firstPoint) / 1000)`);
  assert.ok(!(await ask(`${trainer}.state.failed`)), "the training on the front page stopped");
  await own("the front page");

  for (const [name, size] of Object.entries(widths)) {
    await resize(...size);
    for (const page of listed) {
      await open(`${root}${page}.html`);
      assert.deepEqual(await ask(wide), [], `${page} is wider than ${name}`);
      assert.ok(await ask("document.querySelectorAll('main h1').length > 0"), `${page} has no title`);
      assert.ok(await ask("document.querySelector('nav.top a[href$=\"reference.html\"]') !== null"), `${page} does not lead to the reference`);
      assert.ok(await ask("[...document.querySelectorAll('main img')].every((image) => image.complete && image.naturalWidth > 0)"), `${page} has a picture that is not there`);
      await own(page);
      if (!shown.includes(page)) continue;
      if (page === "index") await until(`${trainer}.state?.firstPoint > 0`, "the front page trains", 60);
      await screenshot(join(pictures, `${page.replace("/", "-")}-${name}.png`));
    }
  }

  // Formulas have fractions.
  await resize(...widths.desktop);
  await open(`${root}algorithms/ppo.html`);
  assert.ok(await ask("document.querySelector('.formula .frac').getBoundingClientRect().height > 30"), "formulas are not drawn");

  // A name of the library leads to its place in the reference.
  await ask("document.querySelector('main a[href*=\"api/\"]').click()");
  await until("location.pathname.includes('/api/') && document.readyState === 'complete'", "a name leads to the reference");
  await own("the reference");

  // A word that somebody types finds pages.
  await open(`${root}guides/index.html`);
  await ask("document.getElementById('mdbook-search-toggle').click()");
  await until("document.getElementById('mdbook-searchbar') !== null && window.search !== undefined", "the search is there");
  await ask(`(() => { const bar = document.getElementById("mdbook-searchbar"); bar.value = "rlcore_learner_observe"; bar.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true })); bar.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  const found = "[...document.querySelectorAll('#mdbook-searchresults a')].map((a) => a.getAttribute('href'))";
  await until(`${found}.length > 0`, "the search finds something");
  const results = await ask(found);
  assert.ok(results.some((link) => link.includes("your-environment")), `the search does not find the guide: ${results}`);
  await screenshot(join(pictures, "search.png"));

  assert.deepEqual(await browser.complaints(), [], "the console is not empty");
  console.log(`the front page shows its first point after ${seconds.toFixed(1)} s`);
  console.log(`ok: ${listed.length} pages at ${Object.values(widths).map(([width]) => width).join(" and ")} pixels in ${browser.name}; ${results.length} results of a search`);
} finally {
  await browser.close();
  server.close();
}
