package council

import "time"

// Settings are council.yaml.
type Settings struct {
	// Agent is the id of the council agent, whose memory contains the decisions.
	Agent string `yaml:"agent"`
	// Members, 3 to 9.
	Members []Member `yaml:"members"`
	// Workers are ids of agents that suggest tasks and obey commands.
	Workers []string `yaml:"workers"`
	// Owners are ids on platforms: discord, slack, github, telegram.
	Owners map[string][]string `yaml:"owners"`
	// Policy is PolicyMajority or PolicyChair.
	Policy string `yaml:"policy"`
	// MinRounds and MaxRounds of a discussion; 0 means 1 and 3.
	MinRounds int `yaml:"minRounds"`
	MaxRounds int `yaml:"maxRounds"` // after which the arbiter decides
	// Discuss opens a second round whenever a vote of the first is a rejection or an approval with modifications, also if enough agree.
	Discuss bool `yaml:"discuss"`
	// Anonymise shows earlier opinions under letters; nil means true.
	Anonymise *bool `yaml:"anonymise"`
	// Phases permits proposals of plans in phases, of which only the first can be done now.
	Phases bool `yaml:"phases"`
	// Autonomy is "supervised" or "full"; empty means supervised.
	Autonomy string `yaml:"autonomy"`
	// Execution of approved tasks.
	Execution Execution `yaml:"execution"`
	// Evaluation of members.
	Evaluation Evaluation `yaml:"evaluation"`
	// Suggestions of workers.
	Suggestions Suggestions `yaml:"suggestions"`
	// Schedules suggest tasks at times, or when a note says something new.
	Schedules []Schedule `yaml:"schedules"`
	// Reflect has members note what they remember of a decision: ReflectNever, ReflectDissent (those who have voted otherwise) or
	// ReflectAlways; empty means never. Each note costs a call of a model.
	Reflect string `yaml:"reflect"`
	// Actions that members may request, by name.
	Actions map[string]Action `yaml:"actions"`
	// Timeouts; zero values mean the defaults.
	Timeouts Timeouts `yaml:"timeouts"`
	// MaxTokensPerTask and MaxTokensPerDay; 0 means 200,000 and 2,000,000.
	MaxTokensPerTask int `yaml:"maxTokensPerTask"`
	MaxTokensPerDay  int `yaml:"maxTokensPerDay"` // of a calendar day in UTC
	// Prices of models by their names as providers have them; what they cost is recorded and estimated.
	Prices map[string]Price `yaml:"prices"`
	// Parallel members within a round; 0 means 3.
	Parallel int `yaml:"parallel"`
	// AcceptForeignBallots counts ballots that another program has put into the folder.
	AcceptForeignBallots bool `yaml:"acceptForeignBallots"`
	// MinFamilies is the number of model families that a quorum needs; 0 means 1.
	MinFamilies int `yaml:"minFamilies"`
}

// Policies.
const (
	PolicyMajority = "majority"
	PolicyChair    = "chair"
)

// Values of Settings.Reflect.
const (
	ReflectNever   = "never"
	ReflectDissent = "dissent"
	ReflectAlways  = "always"
)

// Schedule suggests a task in the name of a worker, at times or when the memory of the council agent says something new. At most 3
// suggestions of a schedule, and 10 of all, are made in a day.
type Schedule struct {
	// Name of the schedule, which its files have.
	Name string `yaml:"name"`
	// Worker in whose name it suggests, one of Settings.Workers.
	Worker string `yaml:"worker"`
	// At are the times as cron has them: minute, hour, day of the month, month, day of the week, such as "30 7 * * mon-fri". Times that
	// were missed are made up for by one.
	At string `yaml:"at"`
	// Zone is the time zone of At, such as Asia/Tokyo; empty means UTC.
	Zone string `yaml:"zone"`
	// Search is what a new note must say, in the words of a search; it takes the place of At.
	Search string `yaml:"search"`
	// Title and Description of what is suggested. The title gets the date, the description the note that was found.
	Title       string `yaml:"title"`
	Description string `yaml:"description"` // in Markdown
	// DryRun only writes down what it would have suggested; nil means true.
	DryRun *bool `yaml:"dryRun"`
}

// Member of a council.
type Member struct {
	// Name is the id of an agent.
	Name string `yaml:"name" json:"name"`
	// Workspace of the agent.
	Workspace string `yaml:"workspace" json:"-"`
	// Model names a model of the settings; "echo" is the scripted one for use offline, "remote" one that asks by NextTurn, and
	// "remote:NAME" one that says which model that is.
	Model string `yaml:"model" json:"model"`
	// Preset is how a known program answers, such as "claude-think". With a preset, Model is the name of a model for the program.
	Preset string `yaml:"preset" json:"preset,omitempty"`
	// Reads is the folder that a preset that looks may read, and Args are further arguments of the program of a preset.
	Reads string   `yaml:"reads" json:"-"`
	Args  []string `yaml:"args" json:"-"` // of a preset
	// Command is the argv of another program that answers, with the prompt on its standard input. With a command, Model only says which
	// model the program asks.
	Command []string `yaml:"command" json:"-"`
	// Output is the path of the answer in the JSON that Command prints, such as "result"; empty if it prints the answer itself.
	Output string `yaml:"output" json:"-"`
	// Env are names of environment variables that the program gets beside PATH, HOME, USER, LANG, TZ, TMPDIR and LC_*, or NAME=VALUE.
	Env []string `yaml:"env" json:"-"`
	// Roles are arbiter, executor, reviewer, approver, runner, announcer, coordinator.
	Roles []string `yaml:"roles" json:"roles"`
}

// Execution says how approved tasks are done.
type Execution struct {
	// Mode is "report", "answer" or "command"; empty means report.
	Mode string `yaml:"mode"`
	// Command is the argv for the mode command.
	Command    []string `yaml:"command"`
	Output     string   `yaml:"output"`     // path of the result in the JSON that Command prints, as that of a member; empty if it prints the result, or a form that is known
	Env        []string `yaml:"env"`        // names of environment variables that Command gets beside the usual ones
	Idempotent bool     `yaml:"idempotent"` // Command may be run again after a crash
	// Approval is "owner" or "none"; empty means owner.
	Approval string `yaml:"approval"`
	// Review has another member check the result.
	Review bool `yaml:"review"`
}

// Evaluation says when members rate each other.
type Evaluation struct {
	// Every is the time between cycles, or "off"; empty means 6h.
	Every string `yaml:"every"`
	// Pinned are parameters that no cycle moves.
	Pinned []string `yaml:"pinned"`
}

// Suggestions says what becomes of the suggestions of workers.
type Suggestions struct {
	// Approval is "owner" or "none"; empty means owner.
	Approval string `yaml:"approval"`
	// Verify has the arbiter look at each; nil means true.
	Verify *bool `yaml:"verify"`
}

// Action is a protected action: "reload" of a member, or an argv.
type Action struct {
	Command []string      `yaml:"command"` // argv of the program; not run by a shell
	Env     []string      `yaml:"env"`     // names of environment variables that it gets beside the usual ones
	Timeout time.Duration `yaml:"timeout"` // after which it is killed; 0 means Timeouts.Action
}

// Timeouts of the steps.
type Timeouts struct {
	Turn            time.Duration `yaml:"turn"`            // of one member; 0 means 10m
	Round           time.Duration `yaml:"round"`           // 0 means 15m
	Arbitration     time.Duration `yaml:"arbitration"`     // 0 means 15m
	Announcement    time.Duration `yaml:"announcement"`    // each of two tries; 0 means 5m
	Execution       time.Duration `yaml:"execution"`       // 0 means 2h
	Review          time.Duration `yaml:"review"`          // 0 means 10m
	EvaluationCycle time.Duration `yaml:"evaluationCycle"` // 0 means 30m
	Action          time.Duration `yaml:"action"`          // 0 means 5m
	Suggestion      time.Duration `yaml:"suggestion"`      // how long it waits for an owner; 0 means 24h
}

// Params are nodes/<name>/params.json: how a member judges, each in [0,1]. A missing one is 0.5.
type Params map[string]float64

// ParamNames are the parameters that prompts contain and cycles move.
var ParamNames = []string{"risk_tolerance", "innovation_weight", "safety_weight", "thoroughness", "consensus_flexibility"}
