package lowering

import "sync"

// all lists every block type in the order of the reference page. A new block is
// one file with its declaration, and one line here.
var all = sync.OnceValue(func() []*Decl {
	return []*Decl{
		residualDecl, parallelDecl, branchDecl, scopeDecl, ifDecl, layersDecl,
		linearDecl, convDecl, averagePoolDecl, embeddingDecl, positionEmbeddingDecl, sinusoidalEmbeddingDecl, gridEmbeddingDecl,
		rmsNormDecl, layerNormDecl, activationDecl, scaleDecl, softcapDecl,
		mlpDecl, gatedMLPDecl, moeDecl,
		attentionDecl, gatedDeltaNetDecl, selectiveSSMDecl,
		useDecl, saveDecl, collectDecl, addDecl, multiplyDecl, zerosDecl, reshapeDecl, transposeDecl, lastTokenDecl, callDecl,
		patchGridDecl, fillPlaceholdersDecl,
	}
})

var byName = sync.OnceValue(func() map[string]*Decl {
	m := map[string]*Decl{}
	for _, d := range all() {
		m[d.Name] = d
	}
	return m
})

// Decls returns the declarations of every block type.
func Decls() []*Decl { return all() }

// Lookup returns the declaration of a block type, or nil.
func Lookup(name string) *Decl { return byName()[name] }
