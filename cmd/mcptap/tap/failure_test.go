package tap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestFailureWord(t *testing.T) {
	syscallError := func(e syscall.Errno) error {
		return &net.OpError{Op: "read", Err: os.NewSyscallError("read", e)}
	}
	for want, errs := range map[string][]error{
		"context canceled":  {context.Canceled, fmt.Errorf("x: %w", context.Canceled)},
		"ECONNREFUSED":      {syscallError(syscall.ECONNREFUSED)},
		"ECONNRESET":        {syscallError(syscall.ECONNRESET), errors.New("http: server closed idle connection")},
		"ETIMEDOUT":         {syscallError(syscall.ETIMEDOUT)},
		"timeout":           {context.DeadlineExceeded, os.ErrDeadlineExceeded, &net.DNSError{IsTimeout: true}},
		"name_not_resolved": {&net.DNSError{IsNotFound: true}},
		"unexpected_EOF":    {io.EOF, io.ErrUnexpectedEOF},
		"_OTHER":            {errors.New("x")},
	} {
		for _, err := range errs {
			if got := FailureWord(err); got != want {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		}
	}
}

func TestExportFailureKind(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("failed to send to http://h:4318/v1/traces: 404 Not Found (body: a)"), "404 Not Found"},
		{errors.New("retry-able request failure: body: (empty)"), "_OTHER"},
		{fmt.Errorf("post: %w", syscall.ECONNREFUSED), "ECONNREFUSED"},
	} {
		if got := ExportFailureKind(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
