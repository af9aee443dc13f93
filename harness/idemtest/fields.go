package idemtest

import (
	"strings"

	"github.com/idemstorm/idemstorm/harness"
)

// goFields are the fields of a target file, and what they are called here.
var goFields = strings.NewReplacer(
	"the target file cannot name evidence for it", "no evidence can be named for it", "see to that field of the target file", "see to that field",
	"answers.mismatch does not say with which status another request under a used key is refused", "Endpoint.Contract.Profile: missing; write one of adr0138, ietf and stripe",
	"what the answers promise is not stated beyond their statuses", "Endpoint.Contract.Profile: missing; write one of adr0138, ietf and stripe",
	"such as evidence.http, file or provider,", "such as Count,", "for a target there are", "there are", "the target's ", "", "contract.profile", "Endpoint.Contract.Profile",
	"request.method", "Endpoint.Method", "request.path", "Endpoint.Path", "request.headers", "Endpoint.Headers", "request.body", "Endpoint.Body",
	"other_body", "Endpoint.OtherBody", "refused_body", "Endpoint.RefusedBody", "failing_body", "Endpoint.FailingBody", "slow_body", "Endpoint.SlowBody",
	"key.header", "Endpoint.Key.Header", "key.format", "Endpoint.Key.Format", "key.malformed", "Endpoint.Key.Malformed",
	"auth, or users[0].headers", "Endpoint.Users[0]", "users[", "Endpoint.Users[", "recovers_within", "Endpoint.RecoversWithin",
	"contract.fresh", "Endpoint.Contract.Fresh", "contract.replay", "Endpoint.Contract.Replay",
	"contract.mismatch_in_flight", "Endpoint.Contract.MismatchInFlight", "contract.mismatch", "Endpoint.Contract.Mismatch",
	"contract.in_flight", "Endpoint.Contract.InFlight", "contract.after_4xx", "Endpoint.Contract.After4xx",
	"contract.after_5xx", "Endpoint.Contract.After5xx", "contract.missing_key", "Endpoint.Contract.MissingKey",
	"contract.malformed_key", "Endpoint.Contract.MalformedKey", "contract.store_down", "Endpoint.Contract.StoreDown",
	"contract.other_user", "Endpoint.Contract.OtherUser",
	"url[", "URL [", "evidence.", "evidence ",
)

// inGo says an error about a target in the words of this package.
func inGo(err error) string {
	text := strings.TrimPrefix(err.Error(), harness.ErrTargetFile.Error()+": ")
	return goFields.Replace(strings.Join(strings.Fields(text), " "))
}
