package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// Method is a method that some revision of MCP defines.
type Method uint8

// The methods of revisions 2024-11-05 to 2026-07-28 and of the tasks
// extension. OtherMethod is every other one, and an unknown one.
const (
	OtherMethod Method = iota
	Initialize
	ServerDiscover
	Ping
	ToolsList
	ToolsCall
	ResourcesList
	ResourcesTemplatesList
	ResourcesRead
	ResourcesSubscribe
	ResourcesUnsubscribe
	PromptsList
	PromptsGet
	CompletionComplete
	LoggingSetLevel
	SubscriptionsListen
	SamplingCreateMessage
	RootsList
	ElicitationCreate
	TasksGet
	TasksResult
	TasksCancel
	TasksList
	TasksUpdate
	NotificationsInitialized
	NotificationsCancelled
	NotificationsProgress
	NotificationsMessage
	NotificationsResourcesListChanged
	NotificationsResourcesUpdated
	NotificationsPromptsListChanged
	NotificationsToolsListChanged
	NotificationsRootsListChanged
	NotificationsElicitationComplete
	NotificationsTasksStatus
	NotificationsTasks
	NotificationsSubscriptionsAcknowledged
	// MethodCount is the number of methods, OtherMethod included.
	MethodCount
)

// member is one required member of a result.
type member struct {
	name string
	get  func(*jsonrpc.Result) jsonrpc.Value
	kind jsonrpc.Kind // Absent: any kind
}

// methodInfo is one row of the table of methods.
type methodInfo struct {
	name string
	// required are the members that every revision which defines the method
	// requires in its result. resultType, ttlMs, cacheScope and _meta are not
	// among them: revision 2026-07-28 added them, and clients take their
	// absence (basic, Responses: absent resultType means complete).
	required []member
	// inputRequired: the result may be an InputRequiredResult (2026-07-28
	// basic/patterns/mrtr, Supported Requests).
	inputRequired bool
	// call: it asks the server to do something for the caller, so that sending
	// it again matters.
	call bool
}

// The required members, from the schemas of the revisions.
var methods = [MethodCount]methodInfo{
	OtherMethod: {name: "_OTHER"},
	Initialize: {name: "initialize", required: []member{
		{"protocolVersion", func(r *jsonrpc.Result) jsonrpc.Value { return r.ProtocolVersion }, jsonrpc.String},
		{"capabilities", func(r *jsonrpc.Result) jsonrpc.Value { return r.Capabilities }, jsonrpc.Object},
		{"serverInfo", func(r *jsonrpc.Result) jsonrpc.Value { return r.ServerInfo }, jsonrpc.Object},
	}},
	ServerDiscover: {name: "server/discover", required: []member{
		{"supportedVersions", func(r *jsonrpc.Result) jsonrpc.Value { return r.SupportedVersions }, jsonrpc.Array},
		{"capabilities", func(r *jsonrpc.Result) jsonrpc.Value { return r.Capabilities }, jsonrpc.Object},
	}},
	Ping: {name: "ping"},
	ToolsList: {name: "tools/list", required: []member{
		{"tools", func(r *jsonrpc.Result) jsonrpc.Value { return r.Tools }, jsonrpc.Array},
	}},
	ToolsCall: {name: "tools/call", inputRequired: true, call: true}, // see toolResult
	ResourcesList: {name: "resources/list", required: []member{
		{"resources", func(r *jsonrpc.Result) jsonrpc.Value { return r.Resources }, jsonrpc.Array},
	}},
	ResourcesTemplatesList: {name: "resources/templates/list", required: []member{
		{"resourceTemplates", func(r *jsonrpc.Result) jsonrpc.Value { return r.ResourceTemplates }, jsonrpc.Array},
	}},
	ResourcesRead: {name: "resources/read", inputRequired: true, call: true, required: []member{
		{"contents", func(r *jsonrpc.Result) jsonrpc.Value { return r.Contents }, jsonrpc.Array},
	}},
	ResourcesSubscribe:   {name: "resources/subscribe"},
	ResourcesUnsubscribe: {name: "resources/unsubscribe"},
	PromptsList: {name: "prompts/list", required: []member{
		{"prompts", func(r *jsonrpc.Result) jsonrpc.Value { return r.Prompts }, jsonrpc.Array},
	}},
	PromptsGet: {name: "prompts/get", inputRequired: true, call: true, required: []member{
		{"messages", func(r *jsonrpc.Result) jsonrpc.Value { return r.Messages }, jsonrpc.Array},
	}},
	CompletionComplete: {name: "completion/complete", call: true, required: []member{
		{"completion", func(r *jsonrpc.Result) jsonrpc.Value { return r.Completion }, jsonrpc.Object},
	}},
	LoggingSetLevel:     {name: "logging/setLevel"},
	SubscriptionsListen: {name: "subscriptions/listen"},
	SamplingCreateMessage: {name: "sampling/createMessage", required: []member{
		{"role", func(r *jsonrpc.Result) jsonrpc.Value { return r.Role }, jsonrpc.String},
		{"content", func(r *jsonrpc.Result) jsonrpc.Value { return r.Content }, jsonrpc.Absent}, // an object, from 2025-11-25 also an array
		{"model", func(r *jsonrpc.Result) jsonrpc.Value { return r.Model }, jsonrpc.String},
	}},
	RootsList: {name: "roots/list", required: []member{
		{"roots", func(r *jsonrpc.Result) jsonrpc.Value { return r.Roots }, jsonrpc.Array},
	}},
	ElicitationCreate: {name: "elicitation/create", required: []member{
		{"action", func(r *jsonrpc.Result) jsonrpc.Value { return r.Action }, jsonrpc.String},
	}},
	TasksGet: {name: "tasks/get", required: []member{
		{"taskId", func(r *jsonrpc.Result) jsonrpc.Value { return r.TaskID }, jsonrpc.String},
		{"status", func(r *jsonrpc.Result) jsonrpc.Value { return r.Status }, jsonrpc.String},
	}},
	TasksResult: {name: "tasks/result"}, // the result of the call that it finishes
	TasksCancel: {name: "tasks/cancel"}, // a Task in 2025-11-25, an empty acknowledgement in the extension
	TasksList: {name: "tasks/list", required: []member{
		{"tasks", func(r *jsonrpc.Result) jsonrpc.Value { return r.Tasks }, jsonrpc.Array},
	}},
	TasksUpdate:                            {name: "tasks/update"},
	NotificationsInitialized:               {name: "notifications/initialized"},
	NotificationsCancelled:                 {name: "notifications/cancelled"},
	NotificationsProgress:                  {name: "notifications/progress"},
	NotificationsMessage:                   {name: "notifications/message"},
	NotificationsResourcesListChanged:      {name: "notifications/resources/list_changed"},
	NotificationsResourcesUpdated:          {name: "notifications/resources/updated"},
	NotificationsPromptsListChanged:        {name: "notifications/prompts/list_changed"},
	NotificationsToolsListChanged:          {name: "notifications/tools/list_changed"},
	NotificationsRootsListChanged:          {name: "notifications/roots/list_changed"},
	NotificationsElicitationComplete:       {name: "notifications/elicitation/complete"},
	NotificationsTasksStatus:               {name: "notifications/tasks/status"},
	NotificationsTasks:                     {name: "notifications/tasks"},
	NotificationsSubscriptionsAcknowledged: {name: "notifications/subscriptions/acknowledged"},
}

var methodsByName = func() map[string]Method {
	m := make(map[string]Method, MethodCount)
	for i := OtherMethod + 1; i < MethodCount; i++ {
		m[methods[i].name] = i
	}
	return m
}()

// MethodNamed returns the method called name, OtherMethod if MCP defines none.
func MethodNamed(name string) Method { return methodsByName[name] }

// String is the name of the method, "_OTHER" for OtherMethod.
func (m Method) String() string { return methods[m].name }

// IsCall reports whether m asks the server to do something for the caller:
// tools/call, resources/read, prompts/get and completion/complete.
func (m Method) IsCall() bool { return methods[m].call }
