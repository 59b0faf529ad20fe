package main

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"golang.org/x/sys/unix"
)

// stopwatch measures the CPU time that the processor takes, with the collector's
// helper around it and without what comes behind it in the pipeline. A profile of
// less than a thousand samples tells that much less well, above all where batches
// come in step with the clock that takes the samples.
type stopwatch struct {
	total, behind atomic.Int64 // nanoseconds
	batches       atomic.Int64
}

// read returns the CPU time of the processor so far, and for how many batches.
func (s *stopwatch) read() (processor time.Duration, batches int64) {
	return time.Duration(s.total.Load() - s.behind.Load()), s.batches.Load()
}

// timed returns f with s around the processors of traces that it makes.
func (s *stopwatch) timed(f processor.Factory) processor.Factory {
	create := func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
		behind, err := consumer.NewTraces(measured(next.ConsumeTraces, &s.behind), consumer.WithCapabilities(next.Capabilities()))
		if err != nil {
			return nil, err
		}
		p, err := f.CreateTraces(ctx, set, cfg, behind)
		return timedTraces{p, s}, err
	}
	return processor.NewFactory(f.Type(), f.CreateDefaultConfig, processor.WithTraces(create, f.TracesStability()))
}

type timedTraces struct {
	processor.Traces
	stopwatch *stopwatch
}

func (t timedTraces) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	t.stopwatch.batches.Add(1)
	return measured(t.Traces.ConsumeTraces, &t.stopwatch.total)(ctx, td)
}

// measured adds the CPU time of consume to sum.
func measured(consume consumer.ConsumeTracesFunc, sum *atomic.Int64) consumer.ConsumeTracesFunc {
	return func(ctx context.Context, td ptrace.Traces) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start := clock(unix.CLOCK_THREAD_CPUTIME_ID)
		err := consume(ctx, td)
		sum.Add(int64(clock(unix.CLOCK_THREAD_CPUTIME_ID) - start))
		return err
	}
}
