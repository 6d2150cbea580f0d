// Hosts the module: node wasm.cjs <module> out <file> runs all stages and writes the module's blocks to the file;
// node wasm.cjs <module> in <file> goes on with the blocks of a file.
const fs = require('fs');
const [, , path, direction, file] = process.argv;
const module_ = new WebAssembly.Module(fs.readFileSync(path));
if (WebAssembly.Module.imports(module_).length > 0) throw new Error('the module imports something');
const m = new WebAssembly.Instance(module_, {}).exports;
const bytes = (at, len) => new Uint8Array(m.memory.buffer, at, len);
let failed;
if (direction === 'out') {
  failed = m.run();
  const size = m.save();
  fs.writeFileSync(file, bytes(m.images(), size));
  failed += size === 0;
} else {
  const images = fs.readFileSync(file);
  bytes(m.images(), images.length).set(images);
  failed = m.go_on(images.length);
}
process.stdout.write(Buffer.from(bytes(m.text(), m.text_len())));
process.exitCode = failed === 0 ? 0 : 1;
