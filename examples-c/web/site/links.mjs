// Every link of every page leads somewhere, anchors included, and nothing is loaded from another host: `node links.mjs SITE`.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize, relative } from "node:path";

const site = process.argv[2];
const pages = readdirSync(site, { recursive: true }).filter((path) => extname(path) === ".html").map((path) => join(site, path));
const text = (html) => html.replace(/&amp;/g, "&").replace(/&quot;/g, '"').replace(/&#x27;|&#39;/g, "'");
const anchors = new Map(), broken = new Set();
let links = 0, others = 0;

const source = (path) => readFileSync(path, "utf8").replace(/<script[^>]*>[\s\S]*?<\/script>|<!--[\s\S]*?-->/g, (part) => part.slice(0, part.indexOf(">") + 1));

function has(path, anchor) {
  if (!anchors.has(path)) anchors.set(path, new Set([...source(path).matchAll(/\s(?:id|name)="([^"]*)"/g)].map((match) => text(match[1]))));
  return anchors.get(path).has(anchor);
}

for (const page of pages) {
  const html = source(page), say = (link, why) => broken.add(`${relative(site, page)}: ${link}: ${why}`);
  for (const [, tag, rest] of html.matchAll(/<(\w+)\b([^>]*)>/g)) {
    for (const [, name, value] of rest.matchAll(/\s(href|src|data|srcset)="([^"]*)"/g)) {
      const link = text(value);
      if (/^(data|javascript|mailto):/.test(link)) continue;
      if (/^(https?:)?\/\//.test(link)) {
        if (tag === "a") others++;
        else say(link, `<${tag} ${name}> of another host`);
        continue;
      }
      links++;
      const [path, anchor] = link.split("#"), file = path.split("?")[0];
      let to = file ? normalize(join(file.startsWith("/") ? site : join(page, ".."), decodeURIComponent(file))) : page;
      if (existsSync(to) && statSync(to).isDirectory()) to = join(to, "index.html");
      if (!existsSync(to)) say(link, "no such file");
      else if (anchor && extname(to) === ".html" && !has(to, decodeURIComponent(anchor)) && !has(to, anchor)) say(link, "no such place in it");
    }
  }
}
for (const style of readdirSync(site, { recursive: true }).filter((path) => extname(path) === ".css"))
  for (const [, link] of readFileSync(join(site, style), "utf8").matchAll(/(?:url\(\s*["']?|@import\s+["'])([^"')]+)/g))
    if (/^(https?:)?\/\//.test(link)) broken.add(`${style}: ${link}: of another host`);
if (broken.size) {
  console.error([...broken].slice(0, 40).join("\n"));
  console.error(`FAILED: ${broken.size} links of ${pages.length} pages lead nowhere`);
  process.exit(1);
}
console.log(`ok: ${links} links of ${pages.length} pages lead somewhere, ${others} to other sites were not followed`);
