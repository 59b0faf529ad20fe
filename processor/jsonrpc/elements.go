package jsonrpc

// Elements calls yield with the raw JSON of each element of the array raw, until
// yield returns false. The last one may not be closed: it reaches to the end of
// raw then. What is said of raw at Lookup holds here too.
func Elements(raw string, yield func(element string) bool) {
	b := []byte(raw)
	i := next(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for {
		i = next(b, i+1) // behind the bracket or a comma
		if i >= len(b) || b[i] == ']' {
			return
		}
		end, _ := endOfValue(b, i)
		if end == i || !yield(raw[i:end]) {
			return
		}
		if i = next(b, end); i >= len(b) || b[i] != ',' {
			return
		}
	}
}

// FirstElement returns the raw JSON of the first element of the array raw, and ""
// if there is none. An element that is not closed reaches to the end of raw. What
// is said of raw at Lookup holds here too.
func FirstElement(raw string) (first string) {
	Elements(raw, func(element string) bool {
		first = element
		return false
	})
	return first
}
