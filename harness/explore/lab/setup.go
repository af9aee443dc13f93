package lab

import "strconv"

// setup is what a schedule file says about the lab, so that a replay builds the same one.
func (l *Lab) setup() map[string]string {
	out := map[string]string{
		"case": l.opts.Case, "route": l.opts.Route, "requests": strconv.Itoa(l.opts.Requests),
	}
	if l.opts.Variant != "" {
		out["variant"] = l.opts.Variant
	}
	if l.opts.Strategy != "" {
		out["strategy"] = l.opts.Strategy
	}
	if l.opts.Isolation != "" {
		out["isolation"] = l.opts.Isolation
	}
	if l.opts.Shared {
		out["replicas"] = "1"
	}
	return out
}

// FromSetup gives the options of the lab that a schedule was found on; Exe, Dir and BinDir stay as they are.
func (o Options) FromSetup(setup map[string]string) Options {
	o.Case, o.Route, o.Variant, o.Isolation = setup["case"], setup["route"], setup["variant"], setup["isolation"]
	o.Strategy = setup["strategy"]
	o.Requests, _ = strconv.Atoi(setup["requests"]) // 0, and so the default, if it is missing
	o.Shared = setup["replicas"] == "1"
	return o
}
