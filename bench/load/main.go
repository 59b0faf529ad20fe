// Command load measures which share of the CPU time of a whole collector the mcp
// processor takes: OTLP in, OTLP out, 10,000 spans a second of which one in ten
// is MCP with a body of 2 KiB.
//
//	go run ./load
//
// The collector runs in this process, which measures the processor on the clock of
// its thread and takes a CPU profile of itself. The spans come from another one,
// which also takes what the collector sends. All listens on the loopback interface
// only, and ends by itself after a minute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// longest is how long the command may take in any case.
const longest = 90 * time.Second

func main() {
	duration := flag.Duration("duration", 45*time.Second, "how long to profile, at most 55s")
	rate := flag.Int("rate", 10_000, "spans a second")
	out := flag.String("profile", "", "file to keep the CPU profile in")
	settings := flag.String("settings", "", "settings of the processor, YAML in one line such as {retry: {enabled: false}}")
	generateTo := flag.String("generate", "", "used by the command itself: the address to send spans to")
	sinkAt := flag.String("sink", "", "used by the command itself: the address to take spans at")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, longest)
	var err error
	if *generateTo != "" {
		err = generate(ctx, *generateTo, *sinkAt, *rate)
	} else {
		err = measure(ctx, min(*duration, 55*time.Second), *rate, *settings, *out)
	}
	cancel()
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// measure runs the collector, has spans sent to it and prints the shares.
func measure(ctx context.Context, duration time.Duration, rate int, settings, out string) (err error) {
	in, err := freeAddress()
	if err != nil {
		return err
	}
	sink, err := freeAddress()
	if err != nil {
		return err
	}
	watch := new(stopwatch)
	c, err := startCollector(ctx, in, sink, settings, watch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.shutdown()) }()

	generator := exec.CommandContext(ctx, os.Args[0], "-generate", in, "-sink", sink, "-rate", fmt.Sprint(rate))
	generator.Stderr = os.Stderr
	// The generator ends when this pipe does, so also if this process is killed.
	alive, err := generator.StdinPipe()
	if err != nil {
		return err
	}
	if err := generator.Start(); err != nil {
		return err
	}
	defer func() {
		_ = alive.Close()
		_ = generator.Wait()
	}()

	const warmUp = 3 * time.Second
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	r, err := record(ctx, duration, watch)
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.WriteFile(out, r.cpu, 0o600); err != nil {
			return err
		}
	}
	return r.print(os.Stdout, rate)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
