package retry

import "sync"

// chunkSize is the number of records that are allocated at a time.
const chunkSize = 64

type chunk [chunkSize]record

// shard holds a part of the records, in the order in which they came, and finds
// them by chains: the newest record of a hash value, and from each record the
// next older one. A record is named by its number in the order; those that were
// forgotten are below the oldest number, so nothing that names one has to be
// cleared. Numbers start again after 1<<32 records; 0 names none, so that this
// one and what is behind it in its chains is not found.
type shard struct {
	mu sync.Mutex
	// ring holds the chunks, a power of two of them: number n is in
	// ring[n/chunkSize], modulo its length.
	ring  []*chunk
	spare *chunk
	// oldest is the number of the oldest record of count.
	oldest, count uint32
	// heads are the newest numbers by hash, size of them for each chain that is
	// in use.
	heads [chains][]uint32
	size  int

	_ [40]byte // so that the locks of neighbours are on different cache lines
}

// minHeads is the least length of heads, a power of two.
const minHeads = 16

func (s *shard) init() { s.oldest, s.size = 1, minHeads }

func (s *shard) place(n uint32) **chunk { return &s.ring[n/chunkSize&uint32(len(s.ring)-1)] }

func (s *shard) at(n uint32) *record { return &(*s.place(n))[n%chunkSize] }

// alive reports whether record n is remembered.
func (s *shard) alive(n uint32) bool { return n != 0 && n-s.oldest < s.count }

// find returns the newest record whose key in chain c may be key; the next
// older one is its next. 0 and forgotten ones end the chain.
func (s *shard) find(c chain, key uint64) uint32 {
	if key == 0 || s.heads[c] == nil {
		return 0
	}
	return *s.head(c, key)
}

func (s *shard) head(c chain, key uint64) *uint32 {
	return &s.heads[c][(key^key>>32)&uint64(len(s.heads[c])-1)]
}

// add stores r and returns its number.
func (s *shard) add(r *record) uint32 {
	n := s.oldest + s.count
	s.grow(n)
	stored := s.at(n)
	*stored = *r
	s.count++
	if 2*int(s.count) > 3*s.size { // from then on three records for two heads at most
		s.rehash()
	} else {
		s.push(n, stored)
	}
	return n
}

// grow makes room for record n, the next one.
func (s *shard) grow(n uint32) {
	chunks := int((n-s.oldest/chunkSize*chunkSize)/chunkSize) + 1
	if chunks > len(s.ring) {
		old := s.ring
		s.ring = make([]*chunk, max(2*len(old), 1))
		for i := range uint32(len(old)) {
			at := s.oldest + i*chunkSize
			*s.place(at) = old[at/chunkSize&uint32(len(old)-1)]
		}
	}
	if place := s.place(n); *place == nil {
		if *place = s.spare; *place == nil {
			*place = new(chunk)
		}
		s.spare = nil
	}
}

// push puts r, which has number n, in front of its chains.
func (s *shard) push(n uint32, r *record) {
	keys := r.keys()
	for c := range chains {
		if keys[c] == 0 {
			continue
		}
		if s.heads[c] == nil {
			s.heads[c] = make([]uint32, s.size)
		}
		head := s.head(c, keys[c])
		r.next[c], *head = *head, n
	}
}

// rehash doubles the number of heads.
func (s *shard) rehash() {
	s.size *= 2
	for c := range chains {
		if s.heads[c] != nil {
			s.heads[c] = make([]uint32, s.size)
		}
	}
	for i := range s.count {
		s.push(s.oldest+i, s.at(s.oldest+i))
	}
}

// forget forgets the oldest record, of which there must be one.
func (s *shard) forget() {
	n := s.oldest
	s.oldest++
	s.count--
	if s.oldest%chunkSize == 0 {
		place := s.place(n)
		s.spare, *place = *place, nil
	}
}
