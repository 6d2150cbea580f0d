// Writes the pages of the site for mdBook: `node assemble.mjs REPOSITORY BOOK NAMES`, NAMES being the tag file of the reference. Every
// page is a file of the repository, so nothing is written twice; links between files become links between pages, a file or folder that
// a page names becomes a page of its own, and names of the library lead to the reference.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, posix } from "node:path";
import { math } from "./math.mjs";

const [repository, book, tags] = process.argv.slice(2);
const own = "examples-c/web/site";
const read = (path) => readFileSync(join(repository, path), "utf8");
const files = execFileSync("git", ["-C", repository, "ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
  .trim().split("\n").filter((path) => existsSync(join(repository, path)));
const fail = (why) => { throw new Error(why); };

// ---- the reference

const names = new Map(), sections = [];
for (const [, kind, body] of readFileSync(tags, "utf8").matchAll(/<compound kind="(\w+)">([\s\S]*?)<\/compound>/g)) {
  const tag = (name, text = body) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1];
  const of = tag("name"), file = tag("filename");
  if (kind === "struct" || kind === "class") names.set(of, file);
  const members = [...body.matchAll(/<member kind="(\w+)">([\s\S]*?)<\/member>/g)];
  for (const [, sort, text] of members) {
    const name = tag("name", text), place = `${tag("anchorfile", text)}#${tag("anchor", text)}`;
    if (kind === "struct" && sort === "variable") names.set(`${of}.${name}`, place);
    else if (kind === "group" && (!names.has(name) || sort === "function")) names.set(name, place);
    for (const [, there, anchor, value] of text.matchAll(/<enumvalue file="(.*?)" anchor="(.*?)">(.*?)<\/enumvalue>/g))
      names.set(value, `${there}#${anchor}`);
  }
  if (kind === "group") sections.push({ file, title: tag("title"), calls: members.filter(([, sort]) => sort === "function").length });
}

// ---- where a file of the repository is in the site

const summary = read(`${own}/SUMMARY.md`);
const listed = new Set([...summary.matchAll(/\]\((.*?)\)/g)].map((match) => match[1]));
const places = [["examples-c/web/site/front.md", "index.md"], ["examples-c/web/site/reference.md", "reference.md"], ["README.md", "overview.md"],
  ["benches/README.md", "speed.md"], ["tests/README.md", "tests.md"], ["ffi/VERSIONING.md", "versions.md"], ["CHANGELOG.md", "changelog.md"],
  ["ffi/python/README.md", "guides/python.md"], ["examples-c/godot/README.md", "guides/godot.md"], ["examples-c/guides/algorithms/", "algorithms/"],
  ["examples-c/guides/", "guides/"], ["examples-c/", "examples/"]];
const pictures = [".svg", ".png", ".gif"];
const is_text = (path) => extname(path) === ".md" && (listed.has(path) || !path.startsWith(own)); // those here are made of others

function place(path) {
  if (path === "include/rlcore.h") return "api/rlcore_8h.html";
  if (path === "include/rlcore.hpp") return "api/namespacerlcore.html";
  if (pictures.includes(extname(path))) return `pictures/${path.replace(/\//g, "-")}`;
  const is_page = listed.has(path), [from, to] = (is_page && places.find(([from]) => path.startsWith(from))) || ["", "source/"];
  const at = to.endsWith("/") ? to + path.slice(from.length) : to;
  if (is_text(path)) return at.replace(/README\.md$/, "index.md");
  return statSync(join(repository, path)).isDirectory() ? `${at}/folder.md` : `${at}.md`;
}

// ---- links of a page

const todo = [...listed], done = new Map();

function want(path) {
  if (!files.includes(path) && !files.some((file) => file.startsWith(`${path}/`))) fail(`no file ${path}`);
  const readme = `${path}/README.md`, target = files.includes(readme) ? readme : path;
  if (!done.has(target) && !todo.includes(target)) todo.push(target);
  return place(target);
}

function target(link, path, at) {
  if (/^(https?|mailto):/.test(link)) return link;
  const relative = (to) => posix.relative(posix.dirname(at), to);
  if (link.startsWith("api:")) return relative(`api/${link.slice(4)}`);
  const [file, anchor] = link.split("#"), hash = anchor ? `#${anchor}` : "";
  if (!file) return hash;
  const to = posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, "");
  return relative(want(to)) + hash;
}

// The part of a page below a heading.
function part(path, heading) {
  const text = read(path), begin = text.indexOf(`\n## ${heading}\n`);
  if (begin < 0) fail(`${path} has no heading ${heading}`);
  const from = text.slice(begin + heading.length + 5), end = from.indexOf("\n## ");
  return (end < 0 ? from : from.slice(0, end)).trim();
}

function prose(text, path, at) {
  const linked = text.replace(/(\]\()([^)\s]+)\)/g, (_, open, link) => `${open}${target(link, path, at)})`);
  const up = posix.relative(posix.dirname(at), "api");
  return linked.replace(/(^|[^[`])`((?:rlcore|RLCORE)_\w+)`(?!\])/gm, (whole, before, name) =>
    names.has(name) ? `${before}[\`${name}\`](${up}/${names.get(name)})` : whole);
}

// Blocks of code stay as they are; formulas become HTML, and rows of settings lead to the reference.
function page(text, path, at) {
  const out = [];
  let fence = null, block = [];
  let words = [];
  const flush = () => { if (words.length) out.push(prose(words.join("\n"), path, at)); words = []; };
  for (const line of text.split("\n")) {
    if (fence === null && line.startsWith("```")) {
      flush();
      fence = line.slice(3), block = [];
    } else if (fence !== null && line.startsWith("```")) {
      // Languages that mdBook's highlighter does not have are text.
      const kind = fence.startsWith("rust") ? `${fence},noplayground` : ["gdscript", "console"].includes(fence) ? "text" : fence;
      out.push(fence === "math" ? math(block.join("\n")) : `\`\`\`${kind}\n${block.join("\n")}\n\`\`\``);
      fence = null;
    } else if (fence !== null) block.push(line);
    else words.push(line.replace(/^\| `(\w+)` \|/, (whole, name) => names.has(`rlcore_learner_config.${name}`)
      ? `| [\`${name}\`](api:${names.get(`rlcore_learner_config.${name}`)}) |` : whole));
  }
  flush();
  return out.join("\n");
}

// ---- pages of files and folders

const languages = { ".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".rs": "rust,noplayground", ".py": "python", ".cs": "csharp", ".js": "javascript",
  ".mjs": "javascript", ".sh": "bash", ".toml": "toml", ".json": "json", ".html": "html", ".css": "css" };
const longest = 200000;

function file(path) {
  const bytes = readFileSync(join(repository, path));
  const head = `# ${path}\n\n`;
  if (bytes.includes(0)) return `${head}${bytes.length.toLocaleString("en")} bytes.\n`;
  const text = bytes.toString("utf8"), shown = text.length > longest ? text.slice(0, text.lastIndexOf("\n", longest)) : text;
  const more = shown.length < text.length ? `\nThe first ${shown.length.toLocaleString("en")} of ${text.length.toLocaleString("en")} bytes.\n` : "";
  return `${head}~~~~~~${languages[extname(path)] ?? "text"}\n${shown.trimEnd()}\n~~~~~~\n${more}`;
}

function folder(path, at) {
  const inside = files.filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1));
  const entries = [...new Set(inside.map((name) => name.split("/")[0]))];
  const link = (name) => `- [${name}](${posix.relative(posix.dirname(at), want(`${path}/${name}`))})`;
  return `# ${path}/\n\n${entries.map((name) => inside.includes(name) ? link(name) : `- ${name}/`).join("\n")}\n`;
}

function make(path) {
  const at = place(path), full = join(repository, path);
  if (at.startsWith("api/")) return;
  const to = join(book, "src", at);
  mkdirSync(dirname(to), { recursive: true });
  if (at.startsWith("pictures/")) return cpSync(full, to);
  let text;
  if (statSync(full).isDirectory()) text = folder(path, at);
  else if (!is_text(path)) text = file(path);
  else {
    const whole = read(path).replace(/\{\{sections\}\}/, () => sections.map((section) =>
      `- [${section.title}](api:${section.file})${section.calls ? `, ${section.calls} call${section.calls > 1 ? "s" : ""}` : ""}`).join("\n"));
    // A part of another file is a page of its own as far as its links go.
    const pieces = whole.split(/^\{\{(.*?)#(.*?)\}\}$/m);
    text = pieces.map((piece, i) => i % 3 === 0 ? page(piece, path, at) : i % 3 === 1 ? page(part(piece, pieces[i + 1]), piece, at) : "").join("");
  }
  writeFileSync(to, text);
}

while (todo.length) {
  const path = todo.shift();
  if (done.has(path)) continue;
  done.set(path, true);
  make(path);
}

// ---- the table of contents

const others = [...done.keys()].filter((path) => !listed.has(path)).map((path) => [path, place(path)])
  .filter(([, at]) => at.endsWith(".md")).sort(([a], [b]) => a < b ? -1 : 1);
const contents = summary.replace(/\]\((.*?)\)/g, (_, path) => `](${place(path)})`);
writeFileSync(join(book, "src/source.md"), `# Files of the repository\n\nThose that pages name.\n\n${others.map(([path, at]) => `- [${path}](${at})`).join("\n")}\n`);
const below = others.map(([path, at]) => `    - [${path.replace(/_/g, "\\_")}](${at})`).join("\n");
writeFileSync(join(book, "src/SUMMARY.md"), contents.replace("{{files}}", () => `  - [Files of the repository](source.md)\n${below}`));
for (const name of ["book.toml", "site.css", "theme"]) cpSync(join(repository, own, name), join(book, name), { recursive: true });
console.log(`${listed.size} pages, ${others.length} files that they name, ${names.size} names of the reference`);
