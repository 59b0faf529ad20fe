package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sys/unix"
)

// recording is what was seen of the process for some time.
type recording struct {
	cpu      []byte // a CPU profile
	cpuTime  time.Duration
	duration time.Duration
	// processor is the CPU time that the processor took for so many batches.
	processor time.Duration
	batches   int64
	// allocated is the share of the processor in what was allocated.
	allocated float64
}

// record takes a CPU profile, and the time of the processor from watch.
func record(ctx context.Context, d time.Duration, watch *stopwatch) (*recording, error) {
	before := allocations()
	start, cpu := time.Now(), clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	processor, batches := watch.read()
	var buf bytes.Buffer
	if err := pprof.StartCPUProfile(&buf); err != nil {
		return nil, err
	}
	err := sleep(ctx, d)
	pprof.StopCPUProfile()
	if err != nil {
		return nil, err
	}
	r := &recording{cpu: buf.Bytes(), cpuTime: clock(unix.CLOCK_PROCESS_CPUTIME_ID) - cpu, duration: time.Since(start)}
	r.processor, r.batches = watch.read()
	r.processor -= processor
	r.batches -= batches
	after := allocations()
	r.allocated = (after.processor - before.processor) / max(1, after.all-before.all)
	return r, nil
}

// processorPackage begins the names of the functions of the processor. What it
// calls has them further up the stack; what comes behind it in the pipeline is
// called by the collector, and has not.
const processorPackage = "github.com/otel-mcp/mcpprocessor"

func isProcessor(function string) bool {
	return strings.HasPrefix(function, processorPackage+".") || strings.HasPrefix(function, processorPackage+"/processor/")
}

func isCollection(function string) bool {
	switch function {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	default:
		return false
	}
}

// print writes the shares in the CPU profile.
func (r *recording) print(w io.Writer, rate int) error {
	p, err := profile.ParseData(r.cpu)
	if err != nil {
		return err
	}
	var all, processor, collection int64
	for _, sample := range p.Sample {
		n := sample.Value[0]
		all += n
		switch {
		case has(sample, isProcessor):
			processor += n
		case has(sample, isCollection):
			collection += n
		}
	}
	share := func(n int64) float64 { return 100 * float64(n) / float64(max(1, all)) }
	fmt.Fprintf(w, "%d spans a second, one in %d MCP: the collector used %.1f %% of one core for %s.\n",
		rate, mcpShare, 100*r.cpuTime.Seconds()/r.duration.Seconds(), r.duration.Round(time.Second))
	fmt.Fprintf(w, "The mcp processor took %.2f %% of it, %.1f µs for a batch of %d spans.\n",
		100*r.processor.Seconds()/r.cpuTime.Seconds(), r.processor.Seconds()*1e6/float64(max(1, r.batches)), batchSize)
	// Samples are counted, so that their number is known up to its square root.
	fmt.Fprintf(w, "In a profile of %d samples: the mcp processor %.2f %% (±%.2f), the garbage collector in the background %.2f %%.\n",
		all, share(processor), share(1)*math.Sqrt(float64(processor)), share(collection))
	fmt.Fprintf(w, "The processor made %.2f %% of what was allocated; with as much of the garbage collector it took %.2f %%.\n",
		100*r.allocated, share(processor)+r.allocated*share(collection))
	return nil
}

// has reports whether a function on the stack of the sample is one of those.
func has(sample *profile.Sample, is func(string) bool) bool {
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if is(line.Function.Name) {
				return true
			}
		}
	}
	return false
}

type allocated struct{ all, processor float64 }

// allocations returns how many bytes have been allocated, and how many of them by
// the processor, as the runtime samples them.
func allocations() (a allocated) {
	runtime.GC() // what was allocated since the last one is not in the records yet
	records := make([]runtime.MemProfileRecord, 10_000)
	n, ok := runtime.MemProfile(records, true)
	for !ok {
		records = make([]runtime.MemProfileRecord, 2*n)
		n, ok = runtime.MemProfile(records, true)
	}
	for i := range records[:n] {
		bytes := float64(records[i].AllocBytes)
		a.all += bytes
		frames := runtime.CallersFrames(records[i].Stack())
		for {
			frame, more := frames.Next()
			if isProcessor(frame.Function) {
				a.processor += bytes
				break
			}
			if !more {
				break
			}
		}
	}
	return a
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
