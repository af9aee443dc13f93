package lab

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
)

// asking is how a lab asks again for what an attempt had asked for: by a client whose server is never held or struck.
type asking struct {
	by *explore.Client
	as func(explore.Case, explore.Attempt) explore.Request
}

// once sends one request more for the first actor whose answer was not final, so that what a schedule left behind is asked for once.
func (a asking) once(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
	for i, play := range plays {
		if len(play.Sent) == 1 && !a.by.Final(play.Sent[0]) {
			again := a.by.Send(ctx, c, a.as(c, play.Sent[0]))
			again.Settle = true
			plays[i].Sent = append(plays[i].Sent, again)
			return plays
		}
	}
	return plays
}

// untilFinal asks for every request that was not told its key's fate, each for as long as give.
func (a asking) untilFinal(ctx context.Context, c explore.Case, plays []explore.Play, give time.Duration) []explore.Play {
	for i, play := range plays {
		if last := len(play.Sent) - 1; last >= 0 && !a.by.Final(play.Sent[last]) {
			plays[i].Sent = append(plays[i].Sent, a.by.Settle(ctx, c, a.as(c, play.Sent[0]), give)...)
		}
	}
	return plays
}
