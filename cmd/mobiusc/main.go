// Command mobiusc compiles architecture specs and checkpoints to ONNX packages.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// heapGrowth is how far the heap may grow, in percent of what is in use, before
// garbage is collected. Most runs are short and use little: twice Go's default
// saves a tenth of the time of compile and costs 10 MB.
const heapGrowth = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}
