package jsonrpc

// Elements calls yield with the raw JSON of each element of the array raw, until
// yield returns false. The last one may not be closed. What is said of raw at
// Lookup holds here too.
func Elements(raw string, yield func(element string) bool) {
	b := []byte(raw)
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for {
		i = skipSpace(b, i+1) // behind the bracket or a comma
		if i >= len(b) || b[i] == ']' {
			return
		}
		end, _ := endOfValue(b, i)
		if end == i || !yield(raw[i:end]) {
			return
		}
		if i = skipSpace(b, end); i >= len(b) || b[i] != ',' {
			return
		}
	}
}
