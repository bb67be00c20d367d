// The packaged extension, activated with a stand-in for VS Code and the real server.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { before, test } = require("node:test");

const vscode = require("./vscode.js");

const root = path.join(__dirname, "..", "..", "..");
const bundle = path.join(__dirname, "..", "dist", "extension.js");
const dir = fs.mkdtempSync(path.join(os.tmpdir(), "mobiusc-vscode-"));
const program = path.join(dir, "mobiusc");

before(() => {
  execFileSync("go", ["build", "-o", program, "./cmd/mobiusc"], { cwd: root, stdio: "inherit" });
});

// load loads the bundle anew, with a module vscode of its own.
function load(settings) {
  const mock = vscode.create(settings);
  const original = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? mock.api : original(name, ...rest));
  delete require.cache[bundle];
  try {
    return { ...mock, extension: require(bundle) };
  } finally {
    Module._load = original;
  }
}

const head = "spec: v1\nname: x\nextends: llama\nsummary: A test.\n";

test("the extension starts the server and shows what it finds", async () => {
  const { api, extension, open, until, seen } = load({ "mobiusc.path": program });
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepEqual(seen.messages, []);

  const uri = "file://" + path.join(dir, "x.yaml");
  const change = open(uri, head + "taks: a\n");
  const [found] = await until(uri, (all) => all.length === 1);
  assert.equal(found.code, "unknown-key");
  assert.equal(found.source, "mobiusc");
  assert.deepEqual([found.range.start.line, found.range.start.character, found.range.end.character], [4, 0, 4]);

  change(new api.Range(4, 0, 4, 4), "task", head + "task: a\n");
  await until(uri, (all) => all.length === 0);

  // A YAML file that is no spec is none of its business.
  const other = "file://" + path.join(dir, "other.yaml");
  open(other, "apiVersion: v1\nspec:\n  taks: a\n");
  await until(other, (all) => all.length === 0);

  // After a restart the server knows what is open.
  change(new api.Range(4, 0, 4, 4), "taks", head + "taks: a\n");
  await until(uri, (all) => all.length === 1);
  seen.diagnostics.clear();
  await seen.commands["mobiusc.restart"]();
  await until(uri, (all) => all.length === 1);

  await extension.deactivate();
  context.subscriptions.forEach((s) => s.dispose());
});

test("a program that is not there is said so, and can be corrected", async () => {
  const settings = { "mobiusc.path": path.join(dir, "nothing") };
  const { extension, events, open, until, seen } = load(settings);
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.match(seen.messages.at(-1), /nothing could not be started.*mobiusc\.path/);

  const uri = "file://" + path.join(dir, "x.yaml");
  open(uri, head + "taks: a\n");
  settings["mobiusc.path"] = program;
  events.configuration.fire({ affectsConfiguration: (name) => name === "mobiusc.path" });
  await until(uri, (all) => all.length === 1);
  await extension.deactivate();
});
