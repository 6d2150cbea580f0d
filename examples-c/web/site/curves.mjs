// Draws the curves on the pages of algorithms: trains each page's own program with five seeds. `node curves.mjs REPOSITORY LIBRARY [check]`;
// `check` trains the last seed alone and compares its curve with the one in the picture: the same on every processor.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [repository, library, check] = process.argv.slice(2);
const folder = join(repository, "examples-c/guides/algorithms"), seeds = 5, points = 50;
const width = 760, height = 400, left = 64, right = 34, top = 56, bottom = 52;
// Okabe and Ito's colors, distinguishable with every kind of color vision.
const colors = ["#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2"];

const build = mkdtempSync(join(tmpdir(), "rlcore-curves-"));
const program = (name, page) => {
  const source = [...page.matchAll(/^```c\n([\s\S]*?)^```$/gm)].map((match) => match[1]).join("\n"), file = join(build, name);
  writeFileSync(`${file}.c`, source);
  execFileSync(process.env.CC ?? "cc", ["-std=c11", "-O2", "-ffp-contract=off", "-I", join(repository, "include"), `${file}.c`, library, "-lm", "-o", file]);
  return file;
};

// [steps, return] of one seed.
function train(file, seed) {
  const ran = spawnSync(file, [String(seed), String(points)], { encoding: "utf8" }); // 1: this seed did not learn, which a curve may show
  if (ran.error || ran.status > 1 || ran.status === null) throw new Error(`${file} ${seed}: ${ran.error ?? ran.stdout}`);
  const lines = ran.stdout.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  if (lines.length !== points || lines.flat().some(Number.isNaN)) throw new Error(`${file} ${seed}: ${ran.stdout}`);
  return lines;
}

// 1, 2 or 5 times a power of ten.
function tick(range, count) {
  const rough = range / count, power = 10 ** Math.floor(Math.log10(rough)), lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

// Points in steps and returns: the picture's transform scales them, so that a check can compare them.
const polyline = (curve) => curve.map((point) => point.join(",")).join(" ");

function draw(title, curves, bar) {
  const steps = Math.max(...curves.flat().map(([x]) => x)), values = [...curves.flat().map(([, y]) => y), bar];
  const low = Math.min(...values), high = Math.max(...values), step = tick(high - low, 5), begin = Math.floor(low / step) * step, end = high + (high - low) * 0.04;
  const sx = (width - left - right) / steps, sy = (height - top - bottom) / (end - begin);
  const x = (value) => (left + value * sx).toFixed(1), y = (value) => (height - bottom - (value - begin) * sy).toFixed(1);
  const shown = (value) => Number(value.toFixed(6)).toLocaleString("en");
  const text = (tx, ty, anchor, words, more = "") => `<text x="${tx}" y="${ty}" text-anchor="${anchor}"${more}>${words}</text>`;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="#333">`,
    `<title>${title}</title>`, `<rect width="${width}" height="${height}" fill="#fff"/>`, text(left, 24, "start", title, ' font-size="16" font-weight="bold"')];
  for (let value = begin; value <= end; value += step)
    out.push(`<path d="M${left} ${y(value)}H${width - right}" stroke="#e4e4e4"/>`, text(left - 8, Number(y(value)) + 4, "end", shown(value)));
  const across = tick(steps, 6);
  for (let value = 0; value <= steps; value += across) out.push(text(x(value), height - bottom + 20, "middle", shown(value)));
  out.push(`<path d="M${left} ${height - bottom}H${width - right}" stroke="#333"/>`, text((left + width - right) / 2, height - 10, "middle", "environment steps"));
  out.push(`<path d="M${left} ${y(bar)}H${width - right}" stroke="#555" stroke-dasharray="6 4"/>`);
  const scale = `transform="matrix(${sx} 0 0 ${-sy} ${left} ${height - bottom + begin * sy})"`;
  const line = (curve, color, thick) => `<polyline ${scale} fill="none" stroke="${color}" stroke-width="${thick}" stroke-linejoin="round" vector-effect="non-scaling-stroke" points="${polyline(curve)}"/>`;
  curves.forEach((curve, i) => out.push(line(curve, colors[i], 1.4)));
  const middle = curves[0].map(([at], k) => [at, curves.map((curve) => curve[k][1]).sort((a, b) => a - b)[Math.floor(curves.length / 2)]]);
  out.push(line(middle, "#000", 2.6));
  let at = left;
  for (const [color, words, more] of [...curves.map((_, i) => [colors[i], `seed ${i + 1}`, ""]), ["#000", "median", ""], ["#555", `bar ${bar}`, ' stroke-dasharray="6 4"']]) {
    out.push(`<path d="M${at} 40h20" stroke="${color}" stroke-width="2"${more}/>`, text(at + 26, 44, "start", words));
    at += 88;
  }
  return `${out.join("\n")}\n</svg>\n`;
}

let drawn = 0;
try {
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md").map((name) => name.slice(0, -3))) {
    const page = readFileSync(join(folder, `${name}.md`), "utf8"), file = program(name, page), picture = join(folder, `${name}.svg`);
    const started = performance.now();
    if (check) {
      const now = polyline(train(file, seeds));
      if (!readFileSync(picture, "utf8").includes(`points="${now}"`)) throw new Error(`${name}.svg is of another training: make -C examples-c/web/site curves`);
    } else {
      const bar = Number(/stats.return_mean < (-?[\d.]+);/.exec(page)[1]), game = /!\[Returns of five seeds on (.*?)\]/.exec(page)[1];
      const title = /^# (.*)$/m.exec(page)[1].split(/,| and /)[0];
      const curves = Array.from({ length: seeds }, (_, i) => train(file, i + 1));
      writeFileSync(picture, draw(`${title} on ${game}: return, mean of the last 100 episodes`, curves, bar));
      console.log(`${name}: ${((performance.now() - started) / 1000 / seeds).toFixed(2)} s a seed, ends ${curves.map((curve) => curve.at(-1)[1]).join(", ")}`);
    }
    drawn++;
  }
} finally {
  rmSync(build, { recursive: true, force: true });
}
console.log(check ? `ok: ${drawn} curves are those of their programs` : `${drawn} curves`);
