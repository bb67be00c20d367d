// Starts the language server of specs, `mobiusc lsp`, for YAML files. The server itself tells specs from other
// YAML, and is silent about the others.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("mobiusc").get("path") || "mobiusc";
  client = new LanguageClient(
    "mobiusc",
    "mobiusc",
    { command, args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "yaml" },
        { scheme: "untitled", language: "yaml" },
      ],
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(`mobiusc: ${command} could not be started (${error.message}). The setting mobiusc.path says where it is.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("mobiusc.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("mobiusc.path")) {
        return restart();
      }
    }),
  );
  await start();
};

exports.deactivate = stop;
