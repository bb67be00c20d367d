// The JSON Schema of specs in yaml-language-server, as an editor without mobiusc has it: the modeline of a
// spec is all that leads there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import rpc from "vscode-jsonrpc/node.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const specs = path.join(here, "..", "..", "specs");

const server = spawn(process.execPath, [path.join(here, "node_modules/yaml-language-server/bin/yaml-language-server"), "--stdio"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const client = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
const found = new Map(); // diagnostics by URI, once there are any or none
const waiting = new Map();
client.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
  found.set(uri, diagnostics);
  waiting.get(uri)?.();
});
client.onRequest("workspace/configuration", ({ items }) =>
  items.map(({ section }) => (section === "yaml" ? { validate: true, hover: true, completion: true, schemaStore: { enable: false } } : {})));
client.onRequest("client/registerCapability", () => null);
client.listen();
after(() => {
  client.dispose();
  server.kill();
});

const ready = client
  .sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(specs).href,
    capabilities: {
      textDocument: { hover: { contentFormat: ["markdown"] }, completion: { completionItem: { documentationFormat: ["markdown"] } } },
      workspace: { configuration: true },
    },
  })
  .then(() => client.sendNotification("initialized", {}));

let opened = 0;

// open shows the server a text as a new file beside the specs. ‸ marks a place, which is not part of the text.
async function open(text) {
  await ready;
  const [before, rest] = text.split("‸");
  const uri = pathToFileURL(path.join(specs, `in_memory_${++opened}.yaml`)).href;
  const checked = new Promise((resolve, reject) => {
    waiting.set(uri, resolve);
    setTimeout(() => reject(new Error("no diagnostics within 30 s")), 30_000).unref();
  });
  client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "yaml", version: 1, text: before + (rest ?? "") },
  });
  await checked;
  const lines = before.split("\n");
  return { textDocument: { uri }, position: { line: lines.length - 1, character: lines.at(-1).length } };
}

const diagnostics = async (text) =>
  found.get((await open(text)).textDocument.uri).map(({ range: { start, end }, message }) => {
    return { at: `${start.line}:${start.character}-${end.line}:${end.character}`, message };
  });

async function completion(text) {
  const list = await client.sendRequest("textDocument/completion", await open(text));
  return (list.items ?? list).map((item) => item.label);
}

const hover = async (text) => (await client.sendRequest("textDocument/hover", await open(text)))?.contents.value ?? "";

const head = "# yaml-language-server: $schema=../schemas/spec.schema.json\nspec: v1\nname: x\nextends: llama\nsummary: A test.\n";

// anchors holds an anchor, an alias and a merge key; head + anchors has 13 lines.
const anchors = `blocks:
  before: &norm
    rms_norm: &options {name: norm, epsilon: 1e-6}
  behind:
    rms_norm:
      <<: *options
      name: other
  twice: [*norm, {rms_norm: {<<: *options, name: third}}]
`;

test("every spec of the repository is right", async () => {
  const files = fs.readdirSync(specs).filter((name) => name.endsWith(".yaml"));
  assert.ok(files.length > 10);
  for (const name of files) {
    assert.deepEqual(await diagnostics(fs.readFileSync(path.join(specs, name), "utf8")), [], name);
  }
});

test("anchors, aliases and merge keys are right", async () => {
  assert.deepEqual(await diagnostics(head + anchors), []);
});

test("a wrong key is one error, at the key", async () => {
  for (const [text, at] of [
    ["taks: a\n", "5:0-5:4"],
    ["blocks:\n  a:\n    atention: {}\n", "7:4-7:12"],
    ["blocks:\n  a:\n    attention: {musk: causal}\n", "7:16-7:20"],
    ["config:\n  a: {typ: int}\n", "6:6-6:9"],
    ["components:\n  model: {inptus: {}}\n", "6:10-6:16"],
    ["variants: {a: {spec: v1}}\n", "5:15-5:19"],
    ["blocks:\n  a: [{if: true, thn: []}]\n", "6:17-6:20"],
    [anchors + "  wrong: {rms_norm: {<<: *options, nmae: x}}\n", "13:35-13:39"],
    [anchors + "  wrong:\n    rms_norm:\n      <<: *options\n      epsilom: 1\n", "16:6-16:13"],
  ]) {
    const errors = await diagnostics(head + text);
    assert.deepEqual(errors.map((e) => e.at), [at], text);
    assert.match(errors[0].message, /not allowed/);
  }
});

test("other faults are one error each", async () => {
  for (const [text, at, message] of [
    ["config: {a: itn}\n", "5:12-5:15", /a type of config key is int, float/],
    ["abstract: 3\n", "5:10-5:11", /boolean/],
    ["model_types: llama\n", "5:13-5:18", /array/],
    ["blocks: {a: {}}\n", "5:12-5:14", /fewer properties/],
    ["blocks: {a: {rms_norm: a, softcap: b}}\n", "5:12-5:37", /more properties/],
  ]) {
    const errors = await diagnostics(head + text);
    assert.deepEqual(errors.map((e) => e.at), [at], text);
    assert.match(errors[0].message, message);
  }
});

test("completion offers what may be written", async () => {
  for (const [text, offered, not] of [
    ["‸", ["config", "blocks", "components", "variants"], ["attention", "spec"]],
    ["blocks:\n  a:\n    ‸", ["attention", "rms_norm", "residual", "layers"], ["config"]],
    ["blocks:\n  a:\n    - ‸", ["attention", "gated_mlp"], ["config"]],
    ["blocks:\n  a:\n    - residual:\n        - gated_mlp:\n            ‸", ["width", "activation", "up"], ["attention"]],
    ["blocks:\n  a:\n    - if: true\n      ‸", ["then", "else"], ["attention"]],
    ["blocks:\n  a:\n    attention:\n      mask: ‸", ["causal", "bidirectional"], ["attention"]],
    ["blocks:\n  a:\n    attention:\n      query:\n        ‸", ["name", "bias", "norm"], ["attention"]],
    ["config:\n  a: ‸", ["int", "activation", "optional int", "list<int>"], []],
    ["config:\n  a:\n    ‸", ["type", "from", "default", "unsupported"], []],
    ["components:\n  a:\n    ‸", ["inputs", "outputs", "body"], []],
    ["defaults:\n  rms_norm:\n    ‸", ["epsilon", "offset"], []],
    ["variants:\n  a:\n    ‸", ["config", "blocks"], ["spec", "pins"]],
    [anchors + "  c:\n    rms_norm:\n      <<: *options\n      ‸", ["offset"], ["attention"]],
  ]) {
    const labels = await completion(head + text);
    for (const label of offered) assert.ok(labels.includes(label), `${text}: ${label} is not among ${labels}`);
    for (const label of not) assert.ok(!labels.includes(label), `${text}: ${label} is among ${labels}`);
  }
});

test("hover shows the documentation", async () => {
  for (const [text, shown] of [
    ["blo‸cks:\n  a:\n    attention: {mask: causal}\n", /named bodies/],
    ["blocks:\n  a:\n    atten‸tion: {mask: causal}\n", /Scaled dot-product attention/],
    ["blocks:\n  a:\n    attention: {ma‸sk: causal}\n", /which positions a query sees/],
    ["config:\n  a: {fr‸om: b}\n", /its names in the wild/],
    [anchors.replace("epsilon", "eps‸ilon"), /epsilon|added|norm/],
  ]) {
    assert.match(await hover(head + text), shown, text);
  }
});
