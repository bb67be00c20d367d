package emit

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// stage is a directory in which a package is built. It is locked while the
// process lives, so that one whose process was killed can be told and removed.
type stage struct {
	path string
	lock *os.File // nil where directories cannot be locked
}

// A stage's name is .mobiusc-LABEL-RANDOM. Where two directories cannot be
// exchanged in one step, the old package stands aside as .mobiusc-LABEL-RANDOM.old
// for a moment.
const (
	stagePrefix = ".mobiusc-"
	asideSuffix = ".old"
	// inPlaceLabel is that of a package whose files are moved one by one.
	inPlaceLabel = "in-place"
	randomBytes  = 4
)

// newStage makes a stage in parent.
func newStage(parent, label string) (*stage, error) {
	cleanStale(parent, label)
	for {
		var random [randomBytes]byte
		rand.Read(random[:]) //nolint:errcheck // never fails
		name := filepath.Join(parent, stagePrefix+label+"-"+hex.EncodeToString(random[:]))
		if err := os.Mkdir(name, 0o777); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		lock, err := lockDir(name)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			os.Remove(name) //nolint:errcheck // the first error counts
			return nil, err
		}
		// Between making and locking it another process may have taken it for
		// a leftover.
		if _, err := os.Stat(name); err == nil {
			return &stage{path: name, lock: lock}, nil
		}
		lock.Close() //nolint:errcheck // nothing was written
	}
}

// discard removes what is left at the stage's path: the unfinished package, the
// one that was replaced, or nothing.
func (s *stage) discard() {
	os.RemoveAll(s.path) //nolint:errcheck // the next run tries again
	s.lock.Close()       //nolint:errcheck // nothing was written
}

// cleanStale removes the stages that killed processes left in parent, and
// brings back a package that one had put aside.
func cleanStale(parent, label string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // the caller meets the same error where it can report it
	}
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), stagePrefix+label+"-")
		random, aside := strings.CutSuffix(random, asideSuffix)
		if b, err := hex.DecodeString(random); !ok || err != nil || len(b) != randomBytes || !e.IsDir() {
			continue
		}
		name := filepath.Join(parent, e.Name())
		lock, err := lockDir(name)
		if err != nil {
			continue // in use
		}
		if label == inPlaceLabel {
			removeMoved(name, parent)
		}
		target := filepath.Join(parent, label)
		if _, err := os.Lstat(target); aside && errors.Is(err, os.ErrNotExist) {
			os.Rename(name, target) //nolint:errcheck // left for the next run
		} else {
			os.RemoveAll(name) //nolint:errcheck // left for the next run
		}
		lock.Close() //nolint:errcheck // nothing was written
	}
}

// removeMoved removes from dir the files that a killed process had moved there from
// its stage, of which the manifest came to be the last: without it they would pass
// for someone else's. Those that replaced files of an earlier package stay.
func removeMoved(stage, dir string) {
	m, err := ReadManifest(stage)
	if err != nil {
		return // nothing was moved, or everything
	}
	var known []string
	if old, err := ReadManifest(dir); err == nil {
		known = old.Files
	}
	for _, f := range m.Files {
		name := filepath.FromSlash(f)
		if _, err := os.Lstat(filepath.Join(stage, name)); errors.Is(err, os.ErrNotExist) && !slices.Contains(known, f) {
			os.Remove(filepath.Join(dir, name)) //nolint:errcheck // it is refused as someone else's then
		}
	}
}

// exchange lets two directories change places, in the way of the platform; a
// variable for tests only.
var exchange = exchangeDirectories

// exchangeByRename lets two directories change places in two steps. If the
// process is killed in between, cleanStale completes it.
func exchangeByRename(a, b string) error {
	aside := a + asideSuffix
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	hook("aside")
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

// syncTree syncs the directories below root, and root, to disk; files are
// synced when they are written.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return syncDir(name)
	})
}

func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
