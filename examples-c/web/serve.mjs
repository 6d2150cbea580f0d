// A folder and those within it on localhost: `node serve.mjs FOLDER [PORT]`.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png",
  ".wasm": "application/wasm" };

// Resolves once it listens; port 0 is any that is free.
export async function serve(folder, port = 0) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname), name = path.endsWith("/") ? `${path}index.html` : path;
    try {
      if (path.includes("..")) throw new Error("outside of the folder");
      const bytes = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": types[extname(name)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(port, "127.0.0.1", listening));
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await serve(process.argv[2], Number(process.argv[3] ?? 8000));
  console.log(`http://localhost:${server.address().port}/`);
}
