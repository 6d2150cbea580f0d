// A folder on localhost: `node serve.mjs FOLDER [PORT]`.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { pathToFileURL } from "node:url";

const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

// Resolves once it listens; port 0 is any that is free.
export async function serve(folder, port = 0) {
  const server = createServer(async (request, response) => {
    const name = basename(new URL(request.url, "http://localhost").pathname) || "index.html";
    try {
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
