package carrier

import "strings"

// Resends is what an item tells of its being sent again, and by what it is
// known to belong to other items. What is not there is "" or 0.
type Resends struct {
	// URL of the endpoint.
	URL string
	// ToolCall is gen_ai.tool.call.id, Conversation gen_ai.conversation.id.
	ToolCall, Conversation string
	// IdempotencyKey of the header of that name.
	IdempotencyKey string
	// Count is http.request.resend_count.
	Count int
	// Origin is an mcp.retry_origin that is there already. Judged reports that
	// its evidence is there too, so that the whole group has been written.
	Origin string
	Judged bool
}

// Resends returns what the item tells of its being sent again.
func (it *Item) Resends() Resends {
	return Resends{
		URL: it.url(), ToolCall: it.text(toolCall), Conversation: it.text(conversation),
		IdempotencyKey: it.text(idempotencyKey), Count: int(it.number(resendCount)),
		Origin: it.text(retryOrigin), Judged: it.values[retryOther].ok,
	}
}

// ToolCall is the gen_ai.tool.call.id on the item.
func (it *Item) ToolCall() string { return it.text(toolCall) }

// Counters calls yield with each header or attribute that counts attempts, its
// name without what makes it an attribute.
func (it *Item) Counters(yield func(name, value string)) {
	for _, c := range [...]struct {
		field field
		names []string
	}{{clientCounter, clientCounters}, {gatewayCounter, gatewayCounters}} {
		if f := it.values[c.field]; f.ok {
			yield(strings.TrimPrefix(c.names[f.rank], "http.request.header."), first(f.value).AsString())
		}
	}
}

// url returns the URL of the endpoint as it was recorded, or put together from
// its parts.
func (it *Item) url() string {
	if full := it.text(urlFull); full != "" {
		return full
	}
	path := it.text(urlPath)
	if path == "" {
		path = it.text(urlTarget)
	}
	host := it.text(serverAddress)
	if host == "" {
		return path
	}
	if f := it.values[serverPort]; f.ok {
		host += ":" + f.value.AsString()
	}
	return it.text(urlScheme) + "://" + host + path
}
