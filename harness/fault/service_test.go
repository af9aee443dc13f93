package fault

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// manneredProvider remembers how it was asked to behave.
type manneredProvider struct {
	now   manners
	calls int64
	down  bool
}

func (p *manneredProvider) Behave(delay time.Duration, failShare float64, afterActing bool) error {
	p.now = manners{delay, failShare, afterActing}
	return nil
}

func (p *manneredProvider) Down() error              { p.down = true; return nil }
func (p *manneredProvider) Up(context.Context) error { p.down = false; return nil }
func (p *manneredProvider) Calls() int64             { return p.calls }

func TestTheProviderBehavesBadlyWhileItLasts(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want manners
	}{
		{Spec{Kind: "provider-slow", Delay: time.Second}, manners{delay: time.Second}},
		{Spec{Kind: "provider-fail"}, manners{failShare: 1}},
		{Spec{Kind: "provider-fail-after-acting", Share: 0.5}, manners{failShare: 0.5, afterActing: true}},
	} {
		p := &manneredProvider{calls: 7}
		healed := struck(t, c.spec, World{Provider: p}, func() {
			if p.now != c.want {
				t.Errorf("%s: it behaves like %+v", c.spec.Kind, p.now)
			}
			p.calls += 4
		})
		if p.now != (manners{}) || healed.Bit != 4 {
			t.Errorf("%s: after healing it behaves like %+v; %d calls felt it", c.spec.Kind, p.now, healed.Bit)
		}
	}
	p := &manneredProvider{}
	struck(t, Spec{Kind: "provider-down"}, World{Provider: p}, func() {
		if !p.down {
			t.Error("it is up")
		}
	})
	if p.down {
		t.Error("after healing it is down")
	}
}

func TestRedisComesBackEmpty(t *testing.T) {
	redis, err := subject.NewRedis(filepath.Join(t.TempDir(), "redis.log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := redis.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer redis.Kill()
	if got := speak(t, redis, "SET k v"); got != "+OK\r\n" {
		t.Fatalf("it answers %q", got)
	}
	struck(t, Spec{Kind: "redis-restart"}, World{Redis: redis}, func() {
		if conn, err := net.Dial("tcp", redis.Addr()); err == nil {
			conn.Close()
			t.Error("it takes connections")
		}
	})
	if got := speak(t, redis, "GET k"); got != "$-1\r\n" {
		t.Errorf("after its return it answers %q, want nothing", got)
	}
}

// speak sends one inline command and gives the first piece of the answer.
func speak(t *testing.T, redis *subject.Redis, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 256)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer[:n])
}

func TestPostgresIsStruckAndComesBack(t *testing.T) {
	own, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, kind := range []string{"postgres-kill", "postgres-pause", "postgres-restart", "postgres-stop-immediate"} {
		healed := struck(t, Spec{Kind: kind}, World{Postgres: own}, func() {
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			if once(ctx, own.DSN("postgres")) == nil {
				t.Errorf("%s: it answers", kind)
			}
		})
		if err := once(t.Context(), own.DSN("postgres")); err != nil {
			t.Errorf("%s: after healing: %v", kind, err)
		}
		if !healed.Total || healed.On != "postgres" {
			t.Errorf("%s: total %t, on %q", kind, healed.Total, healed.On)
		}
	}
}
