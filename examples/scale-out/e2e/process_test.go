package e2e

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a program that runs until it is told to end, or until the test is
// over.
type process struct {
	name    string
	command *exec.Cmd
	output  buffer
	ended   chan error
}

// start starts a program. It does not outlive ctx.
func start(ctx context.Context, t *testing.T, name, folder string, environment []string, program string, arguments ...string) *process {
	t.Helper()
	p := &process{name: name, command: exec.CommandContext(ctx, program, arguments...), ended: make(chan error, 1)}
	p.command.Dir = folder
	p.command.Env = append(os.Environ(), environment...)
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	require.NoError(t, p.command.Start(), name)
	gone := make(chan struct{})
	go func() {
		p.ended <- p.command.Wait()
		close(gone)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill() // unless it has ended
		<-gone
		if t.Failed() {
			text := p.output.String()
			t.Logf("%s wrote:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// kill ends the process without a chance to put anything in order.
func (p *process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.command.Process.Kill())
	require.Error(t, <-p.ended, p.name) // killed
}

// stop ends the process as an orchestrator would.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-p.ended:
		require.NoError(t, err, p.name)
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not stop", p.name)
	}
}

// running fails the test if the process has ended by itself.
func (p *process) running(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		t.Fatalf("%s has ended: %v", p.name, err)
	default:
	}
}

// healthy waits until the collector p answers its health check.
func (p *process) healthy(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	wait(ctx, t, p.name+" is not up", func() bool {
		p.running(t)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// wait waits until condition holds.
func wait(ctx context.Context, t *testing.T, otherwise string, condition func() bool) {
	t.Helper()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatal(otherwise)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// ports returns so many ports of 127.0.0.1 that are free.
func ports(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close() // all at the end, so that they differ
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses
}

// buffer is a bytes.Buffer that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
