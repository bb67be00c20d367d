//go:build !linux && !darwin

package emit

// exchangeDirectories lets two directories change places.
func exchangeDirectories(a, b string) error { return exchangeByRename(a, b) }
