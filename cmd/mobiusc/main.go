// Command mobiusc compiles architecture specs and checkpoints to ONNX packages.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// heapGrowth is how far the heap may grow, in percent of what is in use, before
// garbage is collected. Most runs are short and use little: twice Go's default
// saves a tenth of the time of compile and costs 10 MB.
const heapGrowth = 200

// grace is how long a command that was interrupted may take to remove what it
// had begun to write. One that waits for a pipe would never see the signal. What
// is left then the next compile removes.
const grace = 10 * time.Second

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
		time.Sleep(grace)
		os.Exit(exitInterrupted)
	}()
	code := run(ctx, os.Args, streams{os.Stdin, os.Stdout, os.Stderr})
	os.Exit(code)
}
