package fault

import (
	"context"
	"errors"
)

// redisRestart loses everything that was kept there: it runs without persistence, as caches do.
var redisRestart = Kind{
	Name:  "redis-restart",
	Story: "redis is killed, and started again, empty, when the fault ends",
	Sees:  "nothing: the reference keeps no claim in redis",
	Holds: "a claim kept outside the database must not be the only guard of what is inside",
	On:    []Target{Redis},
	Strike: func(_ Spec, w World) (Strike, error) {
		if w.Redis == nil {
			return nil, errors.New("redis: this run has none; set subject.redis: true")
		}
		return &service{stop: func(context.Context) error { return w.Redis.Kill() }, start: w.Redis.Start}, nil
	},
}
