package lsp

import "encoding/json"

// The parts of the protocol that the server speaks, version 3.17:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification

// position is a place: a line and a UTF-16 code unit in it, both from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is the protocol's Range: from Start to before End.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type openParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

// documentParams are the parameters of all that names a document alone.
type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

// about returns the URI of the document that a message is about.
func (p documentParams) about() string { return p.TextDocument.URI }

type changeParams struct {
	documentParams
	ContentChanges []contentChange `json:"contentChanges"`
}

// contentChange replaces a range, or the whole text if there is none.
type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// placeParams are the parameters of all that names a place in a document.
type placeParams struct {
	documentParams
	Position position `json:"position"`
}

type watchedFilesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

// Severities of diagnostics.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

// tagUnnecessary marks what nothing uses; editors show it faded.
const tagUnnecessary = 1

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Tags     []int     `json:"tags,omitempty"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type initializeParams struct {
	Capabilities struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
		TextDocument struct {
			PublishDiagnostics struct {
				RelatedInformation bool `json:"relatedInformation"`
			} `json:"publishDiagnostics"`
			DocumentSymbol struct {
				Hierarchical bool `json:"hierarchicalDocumentSymbolSupport"`
			} `json:"documentSymbol"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

// object is a JSON object that is written once and never read.
type object = map[string]any

// decode reads parameters. Absent ones are an error: every method that has
// parameters needs them.
func decode[T any](params json.RawMessage) (*T, *rpcError) {
	v := new(T)
	if len(params) == 0 || string(params) == "null" {
		return nil, failed(codeInvalidParams, "the parameters are missing")
	}
	if err := json.Unmarshal(params, v); err != nil {
		return nil, failed(codeInvalidParams, "the parameters do not fit: %v", err)
	}
	return v, nil
}
