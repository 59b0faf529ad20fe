package jsonrpc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func idOf(t testing.TB, raw string) ID {
	t.Helper()
	return readComplete(t, `{"id":`+raw+`}`).RequestID()
}

// The ids of one line are equal, and equal to none of another line.
var sameIDs = [][]string{
	{`1`, `1.0`, `1e0`, `10e-1`, `0.1e1`, `1.000`, `100E-2`},
	{`"1"`, `"\u0031"`},
	{`"1.0"`},
	{`0`, `-0`, `0.0`, `0e5`, `-0e-5`},
	{`-1`, `-1.0`},
	{`9007199254740992`, `9007199254740992.0`},
	{`9007199254740993`, `9007199254740993e0`},
	{`1e400`, `10e399`},
	{`1e99999999999999999999`},
	{`1.5`, `15e-1`},
	{`""`},
	{`"a"`, `"\u0061"`, `"\u0061"`},
	{`"A"`},
	{`"a/b"`, `"a\/b"`, `"a\u002fb"`, `"a\u002Fb"`},
	{`"é"`, `"\u00e9"`, `"\u00E9"`},
	{"\"e\u0301\""},
	{`"😀"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`},
	{`"\ud83d"`, `"\ud83d"`, `"�"`},
	{`"\u0000"`},
	{`"null"`},
	{`"true"`},
	{`" 1"`},
	{`"1 "`},
	{`"01"`},
}

func TestEqualIDs(t *testing.T) {
	for i, line := range sameIDs {
		for j, other := range sameIDs {
			for _, a := range line {
				for _, b := range other {
					same := i == j
					assert.Equal(t, same, idOf(t, a).Equal(idOf(t, b)), "%s and %s", a, b)
					assert.Equal(t, same, string(idOf(t, a).AppendCanonical(nil)) == string(idOf(t, b).AppendCanonical(nil)), "%s and %s", a, b)
					if same {
						assert.True(t, idOf(t, a).EqualText(idOf(t, b)), "%s and %s", a, b)
					}
				}
			}
		}
	}
}

func TestIDsThatAreNotValidEqualNothing(t *testing.T) {
	open := readOne(t, `{"id":12`).RequestID()
	for _, id := range []ID{{}, idOf(t, `null`), idOf(t, `true`), idOf(t, `[]`), idOf(t, `{}`), open, readOne(t, `{"id":"a`).RequestID(), NumberID("x"), NumberID("1 "), NumberID("")} {
		assert.False(t, id.Valid())
		assert.False(t, id.Equal(id))
		assert.False(t, id.EqualText(id))
		assert.Equal(t, id.AppendCanonical(nil), id.AppendCanonical(nil))
	}
	assert.False(t, open.Equal(idOf(t, `12`)))
	assert.NotEqual(t, string(idOf(t, `null`).AppendCanonical(nil)), string(ID{}.AppendCanonical(nil)))
}

func TestEqualTextIgnoresTheType(t *testing.T) {
	for _, c := range []struct{ a, b string }{{`7`, `"7"`}, {`7.0`, `"7"`}, {`7`, `"7.0"`}, {`-7`, `"-7"`}, {`9007199254740993`, `"9007199254740993"`}} {
		a, b := idOf(t, c.a), idOf(t, c.b)
		assert.True(t, a.EqualText(b) && b.EqualText(a), "%s and %s", c.a, c.b)
		assert.False(t, a.Equal(b))
	}
	for _, c := range []struct{ a, b string }{{`7`, `"8"`}, {`7`, `" 7"`}, {`7`, `"07"`}, {`7`, `"seven"`}, {`9007199254740993`, `"9007199254740992"`}, {`null`, `"null"`}, {`true`, `"true"`}, {`0`, `""`}} {
		a, b := idOf(t, c.a), idOf(t, c.b)
		assert.False(t, a.EqualText(b) || b.EqualText(a), "%s and %s", c.a, c.b)
	}
}

func TestKindsOfIDs(t *testing.T) {
	type kinds struct{ Valid, Present, IsNull, IsString, IsNumber, Open bool }
	for text, want := range map[string]kinds{
		`{}`:           {},
		`{"id":null}`:  {Present: true, IsNull: true},
		`{"id":nu`:     {Present: true, Open: true},
		`{"id":"a"}`:   {Present: true, Valid: true, IsString: true},
		`{"id":""}`:    {Present: true, Valid: true, IsString: true},
		`{"id":"a`:     {Present: true, IsString: true, Open: true},
		`{"id":"a"`:    {Present: true, Valid: true, IsString: true},
		`{"id":1.5}`:   {Present: true, Valid: true, IsNumber: true},
		`{"id":1`:      {Present: true, IsNumber: true, Open: true},
		`{"id":1,`:     {Present: true, Valid: true, IsNumber: true},
		`{"id":false}`: {Present: true},
		`{"id":{}}`:    {Present: true},
		`{"id":`:       {},
	} {
		id := readOne(t, text).RequestID()
		assert.Equal(t, want, kinds{id.Valid(), id.Present(), id.IsNull(), id.IsString(), id.IsNumber(), id.Open()}, text)
	}
}

func TestIDsFromElsewhere(t *testing.T) {
	assert.True(t, StringID("a\"\\é😀").Equal(idOf(t, `"\u0061\"\\\u00e9\ud83d\ude00"`)))
	assert.True(t, StringID(`\u0061`).Equal(idOf(t, `"\\u0061"`)), "a string that is not JSON has no escapes")
	assert.False(t, StringID(`\u0061`).Equal(idOf(t, `"a"`)))
	assert.True(t, StringID("\xff").Equal(StringID("\ufffd")))
	assert.True(t, NumberID("7.0").Equal(idOf(t, `7`)))
	for _, raw := range []string{"", "x", "1 ", " 1", "0x1", "NaN", "01", "1.", `"1"`} {
		assert.False(t, NumberID(raw).Valid(), raw)
		assert.True(t, NumberID(raw).Present(), raw)
	}
}

func TestIDForDisplay(t *testing.T) {
	for raw, want := range map[string]string{
		`"req-1"`: "req-1", `"\u0061\n"`: "a\n", `7`: "7", `1.0`: "1", `1e2`: "100", `-0`: "0", `-12.50e1`: "-125", `1.5`: "1.5",
		`1e19`: "10000000000000000000", `1e20`: "1e20", `9007199254740993`: "9007199254740993", `123456789012345678901234567890`: "123456789012345678901234567890", `null`: "", `true`: "", `{}`: "",
	} {
		assert.Equal(t, want, idOf(t, raw).String(), raw)
	}
	assert.Empty(t, ID{}.String())
	assert.Empty(t, readOne(t, `{"id":12`).RequestID().String())
}

// An id of many digits must not cost more than its length.
func TestLongIDs(t *testing.T) {
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = '1'
	}
	a, b := NumberID(string(long)), NumberID(string(long)+".0")
	require.True(t, a.Equal(b))
	require.False(t, a.Equal(NumberID(string(long)+"1")))
	require.Equal(t, string(a.AppendCanonical(nil)), string(b.AppendCanonical(nil)))
}
