// A stand-in for the module that VS Code gives to extensions: what this one and vscode-languageclient use of it
// while they start a server, open documents and show what is found. Whatever else is asked for is a class without
// members or a function that returns a disposable, so that a feature which is only registered needs no code here.
"use strict";

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
  static from(...all) {
    return new Disposable(() => all.forEach((d) => d.dispose()));
  }
}

class EventEmitter {
  listeners = new Set();
  event = (listener, self, disposables) => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    const d = new Disposable(() => this.listeners.delete(bound));
    disposables?.push(d);
    return d;
  };
  fire = (value) => this.listeners.forEach((listener) => listener(value));
  dispose = () => this.listeners.clear();
}

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  cancel() {}
  dispose() {}
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(...at) {
    const [start, end] = at.length === 4 ? [new Position(at[0], at[1]), new Position(at[2], at[3])] : at;
    Object.assign(this, { start, end });
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = text.slice(0, text.indexOf(":"));
    this.path = decodeURIComponent(new URL(text).pathname);
    this.fsPath = this.path;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri("file://" + path);
  }
  toString() {
    return this.text;
  }
  with() {
    return this;
  }
}

class CodeActionKind {
  static Empty = new CodeActionKind("");
  static QuickFix = new CodeActionKind("quickfix");
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(`${this.value}.${part}`);
  }
}

const numbered = (...names) => Object.fromEntries(names.map((name, i) => [name, i]));

// loose answers for what is only registered.
const loose = (known) =>
  new Proxy(known, {
    get: (target, name) => (name in target || typeof name === "symbol" ? target[name] : /^[A-Z]/.test(name) ? class {} : () => new Disposable()),
    has: () => true,
  });

// create returns the module, and events that a test fires and results that it looks at.
exports.create = (settings) => {
  const events = { open: new EventEmitter(), change: new EventEmitter(), close: new EventEmitter(), configuration: new EventEmitter() };
  const seen = { diagnostics: new Map(), messages: [], commands: {} };
  const changed = new EventEmitter();
  const documents = [];

  const api = loose({
    version: "1.90.0",
    Disposable, EventEmitter, CancellationTokenSource, Position, Range, Diagnostic, Uri, CodeActionKind,
    CancellationError: Error,
    DiagnosticSeverity: numbered("Error", "Warning", "Information", "Hint"),
    CompletionItemKind: numbered("Text", "Method", "Function"),
    SymbolKind: numbered("File", "Module"),
    ExtensionMode: { Production: 1 },
    LogLevel: numbered("Off", "Trace", "Debug", "Info", "Warning", "Error"),
    TextDocumentChangeReason: { Undo: 1, Redo: 2 },
    env: loose({ appName: "test", language: "en", isTelemetryEnabled: false, onDidChangeTelemetryEnabled: () => new Disposable() }),
    extensions: loose({ all: [] }),
    window: loose({
      createOutputChannel: () => loose({ append() {}, appendLine() {}, show() {}, dispose() {}, info() {}, error() {} }),
      showErrorMessage: async (message) => void seen.messages.push(message),
      tabGroups: loose({ all: [], onDidChangeTabs: () => new Disposable() }),
      visibleTextEditors: [],
      activeTextEditor: undefined,
    }),
    commands: loose({
      registerCommand: (name, run) => {
        seen.commands[name] = run;
        return new Disposable(() => delete seen.commands[name]);
      },
    }),
    languages: loose({
      // Every document of these tests is YAML on disk.
      match: (selector, document) => (selector.some?.((s) => s.language === document.languageId && s.scheme === document.uri.scheme) ? 10 : 0),
      createDiagnosticCollection: () => ({
        set: (uri, found) => {
          seen.diagnostics.set(uri.toString(), found);
          changed.fire();
        },
        delete: (uri) => seen.diagnostics.delete(uri.toString()),
        clear: () => seen.diagnostics.clear(),
        dispose() {},
      }),
    }),
    workspace: loose({
      textDocuments: documents,
      notebookDocuments: [],
      workspaceFolders: undefined,
      getConfiguration: (section) => ({
        get: (name, otherwise) => settings[`${section}.${name}`] ?? otherwise,
        inspect: () => undefined,
      }),
      onDidOpenTextDocument: events.open.event,
      onDidChangeTextDocument: events.change.event,
      onDidCloseTextDocument: events.close.event,
      onDidChangeConfiguration: events.configuration.event,
      createFileSystemWatcher: () => loose({ dispose() {} }),
      fs: loose({}),
    }),
  });

  // open opens a document as the editor does, and returns a function that changes it.
  const open = (uri, text) => {
    const document = { uri: Uri.parse(uri), languageId: "yaml", version: 1, isClosed: false, getText: () => text };
    documents.push(document);
    events.open.fire(document);
    return (range, newText, result) => {
      text = result;
      document.version++;
      events.change.fire({ document, contentChanges: [{ range, rangeLength: 0, text: newText }], reason: undefined });
    };
  };

  // until waits until a document has diagnostics that satisfy a condition.
  const until = (uri, holds) =>
    new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no such diagnostics; the last are ${JSON.stringify(seen.diagnostics.get(uri))}`)), 20_000);
      const look = () => {
        const found = seen.diagnostics.get(uri);
        if (found && holds(found)) {
          clearTimeout(limit);
          listener.dispose();
          resolve(found);
        }
      };
      const listener = changed.event(look);
      look();
    });

  return { api, events, seen, open, until };
};
