package schema

import (
	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/reports"
)

// requiredInYAML are the fields without which a file means nothing.
var requiredInYAML = map[string][]string{
	"scenarios.Scenario":     {"name", "summary", "workload", "invariants"},
	"plan.Spec":              {"phases"},
	"plan.Phase":             {"name", "shape"},
	"plan.Retry":             {"attempts"},
	"fault.Spec":             {"kind", "for"},
	"check.Gate":             {"group", "quantile", "limit"},
	"subject.Target":         {"name", "request", "evidence"},
	"subject.TargetRequest":  {"path"},
	"subject.TargetEvidence": {"executions"},
}

// share is a number that is a part of a whole.
var share = object{"minimum": 0, "maximum": 1}

// constraints are what the type of a field does not say, by type and field. They may be looser than the program, never stricter.
var constraints = map[string]object{
	"verdict.Run.Schema":       {"const": 1},
	"evidence.Set.Schema":      {"const": 1},
	"schedule.Schedule.Schema": {"const": 1},
	"bench.Result.Schema":      {"const": bench.Schema},
	"reports.RunEvent.Schema":  {"const": reports.EventSchema},
	"reports.RunEvent.Event": {"enum": []string{
		reports.EventStart, reports.EventPhase, reports.EventProgress, reports.EventPhaseEnd, reports.EventVerdict, reports.EventError, reports.EventEnd,
	}},
	"reports.RunEvent.Exit": {"enum": []int{0, 1, 2, 3, 4, 5}},
	"history.Attempt.Cause": {"enum": []string{
		history.CauseTimeout, history.CauseGaveUp, history.CauseReset, history.CauseRefused, history.CauseInterrupted, history.CauseOther,
	}},
	"history.Fault.Phase":  {"enum": []string{history.FaultStriking, history.FaultBegan, history.FaultHealing, history.FaultHealed}},
	"history.Operation.ID": {"minimum": 1},
	"history.Attempt.N":    {"minimum": 1},

	"scenarios.Scenario.Version":    {"enum": []int{0, 1}},
	"subject.Target.Version":        {"enum": []int{0, 1}},
	"scenarios.Scenario.Name":       {"pattern": "^[a-z][a-z0-9-]{0,63}$"},
	"scenarios.Scenario.Summary":    {"minLength": 1},
	"scenarios.Scenario.Invariants": {"anyOf": nil, "type": "array", "minItems": 1, "items": object{"enum": check.IDs()}},
	"subject.Spec.Replicas":         {"minimum": 0, "maximum": 16},
	"subject.Spec.Pool":             {"minimum": 0, "maximum": 200},
	"subject.Spec.StorePool":        {"minimum": 0, "maximum": 200},
	"subject.Spec.Isolation":        {"enum": []string{"", "read committed", "repeatable read", "serializable"}},
	"subject.Spec.Standby":          {"enum": []string{"", "asynchronous", "synchronous"}},
	"subject.Spec.Strategy":         {"enum": append([]string{""}, contract.StrategyNames()...)},
	"plan.Spec.Phases":              {"anyOf": nil, "type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/plan.Phase"}},
	"plan.Phase.Shape":              {"enum": shapes()},
	"plan.Phase.Hot":                share,
	"plan.Phase.Refused":            share,
	"plan.Phase.Impatient":          share,
	"plan.Phase.Clients":            {"minimum": 0, "maximum": 10000},
	"plan.Phase.Keys":               {"minimum": 0},
	"plan.Phase.Duplicates":         {"minimum": 0},
	"plan.Phase.Rate":               {"minimum": 0, "maximum": 1e6},
	"plan.Phase.Replica":            {"minimum": 0, "maximum": 16},
	"plan.Manners.CutBody":          share,
	"plan.Manners.Twin":             share,
	"plan.SlowBody.Share":           share,
	"plan.Retry.Attempts":           {"minimum": 1, "maximum": 1000},
	"plan.Fixture.Users":            {"minimum": 0},
	"plan.Fixture.Positions":        {"minimum": 0},
	"plan.Fixture.Cash":             {"pattern": `^([0-9]{1,15}(\.[0-9]{1,2})?)?$`},
	"fault.Spec.Kind":               {"enum": kinds()},
	"fault.Spec.Replica":            {"minimum": 0},
	"fault.Spec.Share":              share,
	"check.Gate.Quantile":           {"enum": []float64{0.5, 0.9, 0.99, 0.999}},
}

// adjustments change what a type of its own makes of itself in a file.
var adjustments = map[string]func(whole, properties object){
	"history.Attempt": func(_, properties object) {
		properties["body"] = object{"type": "string", "description": "answer body, where it is valid UTF-8"}
		properties["body_b64"] = object{"type": "string", "contentEncoding": "base64", "description": "answer body, where it is not"}
	},
	"history.Event": func(whole, _ object) {
		whole["minProperties"], whole["maxProperties"] = 1, 1
	},
}

func kinds() (names []string) {
	for _, k := range fault.Kinds {
		names = append(names, k.Name)
	}
	return names
}

func shapes() (names []string) {
	for _, s := range plan.Shapes {
		names = append(names, s.Name)
	}
	return names
}
