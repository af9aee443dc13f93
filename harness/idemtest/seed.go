package idemtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// SeedVariable is the environment variable that fixes the seed of every run of a test binary: a number from 1.
const SeedVariable = "IDEMTEST_SEED"

// seed is that of the environment, or of the endpoint, or a new one that is short enough to type.
func (e Endpoint) seed() (uint64, error) {
	text, set := os.LookupEnv(SeedVariable)
	if !set {
		return cmp.Or(e.Seed, uint64(rand.Uint32())+1), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seed == 0 {
		return 0, fmt.Errorf("%s=%q is no seed; write the number that a failed run named", SeedVariable, text)
	}
	return seed, nil
}

// calls counts the calls of Run by test, so that a test that storms one database twice, or is run with -count, makes keys of its own each time.
var calls = struct {
	sync.Mutex
	made map[string]int
}{made: map[string]int{}}

func call(test string) int {
	calls.Lock()
	defer calls.Unlock()
	calls.made[test]++
	return calls.made[test]
}

// salt tells the keys of a run from those of all others with its seed.
func (r *running) salt(scenario string) subject.KeyBytes {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %q %q", r.seed, r.nth, r.name, scenario))
	return subject.KeyBytes(sum[:])
}

// again is the command line that makes the requests of a test once more.
func again(test string, seed uint64) string {
	var patterns []string
	for part := range strings.SplitSeq(test, "/") {
		patterns = append(patterns, "^"+regexp.QuoteMeta(part)+"$")
	}
	pattern := strings.ReplaceAll(strings.Join(patterns, "/"), "'", `'\''`)
	return fmt.Sprintf("%s=%d go test -count=1 -run '%s' %s", SeedVariable, seed, pattern, testedPackage())
}

// testedPackage is the import path of the package whose tests run; "." where the binary does not know it.
func testedPackage() string {
	info, known := debug.ReadBuildInfo()
	if !known || info.Path == "" {
		return "."
	}
	return strings.TrimSuffix(info.Path, ".test")
}
