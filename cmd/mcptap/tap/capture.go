package tap

import (
	"errors"
	"io"
	"sync"
)

// capture keeps the first bytes of a body and counts the rest.
//
// It has a lock because the HTTP transport may still be reading a request body
// when the answer is already there and the exchange is being closed.
type capture struct {
	limit int

	mu     sync.Mutex
	buf    []byte
	size   int64
	eof    bool
	err    error
	sealed bool
}

// captured is what a capture held when it was sealed.
type captured struct {
	data []byte
	size int64 // bytes that passed, whether kept or not
	eof  bool  // the body was read to its end
	err  error // what ended the reading, if not the end of the body
}

// cut reports whether more bytes passed than were kept.
func (c captured) cut() bool { return c.size > int64(len(c.data)) }

// seal ends the capture and hands over what it holds. What passes afterwards
// is not recorded.
func (c *capture) seal() captured {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := captured{data: c.buf, size: c.size, eof: c.eof, err: c.err}
	c.buf, c.sealed = nil, true
	return out
}

// untouched reports whether nothing was read yet.
func (c *capture) untouched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size == 0 && !c.eof && c.err == nil
}

// saw records the result of one Read.
func (c *capture) saw(p []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed {
		return
	}
	c.size += int64(len(p))
	c.keep(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		c.eof = true
	case c.err == nil:
		c.err = err
	}
}

// keep appends what fits. The growth of append is not used, since it may
// reserve more than the limit.
func (c *capture) keep(p []byte) {
	p = p[:min(len(p), c.limit-len(c.buf))]
	need := len(c.buf) + len(p)
	if need > cap(c.buf) {
		grown := make([]byte, len(c.buf), min(c.limit, max(need, 2*cap(c.buf), 512)))
		copy(grown, c.buf)
		c.buf = grown
	}
	c.buf = append(c.buf, p...)
}

// tee returns a body that reads from r and lets the capture see it. length is
// the length of the body, or negative if it is not known.
func (c *capture) tee(r io.ReadCloser, length int64) io.ReadCloser {
	return &teeBody{ReadCloser: r, to: c, length: length}
}

type teeBody struct {
	io.ReadCloser
	to     *capture
	length int64
	read   int64
	ended  bool
}

// Read knows the end of a body when it sees it and does not ask again. An HTTP
// transport reads once more after the last byte, and an HTTP server may have
// closed the body by then because the answer has begun; the error would make
// the transport drop the connection in the middle of the answer.
func (t *teeBody) Read(p []byte) (int, error) {
	if t.ended {
		return 0, io.EOF
	}
	n, err := t.ReadCloser.Read(p)
	t.read += int64(n)
	if err == nil && t.read == t.length {
		err = io.EOF
	}
	t.ended = errors.Is(err, io.EOF)
	t.to.saw(p[:n], err)
	return n, err
}
