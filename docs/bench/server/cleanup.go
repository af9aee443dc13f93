package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// endWithin bounds the rest of a cleanup, after what is measured of it.
const endWithin = 15 * time.Minute

// cleanup compares traffic beside a running cleanup with the same traffic before and after. The cleanup is one process, held by SIGSTOP while it
// is not wanted: between its statements there is nothing that it holds.
func (r *retention) cleanup(ctx context.Context) error {
	fmt.Printf("\nround   fresh orders, p99 ms: quiet  beside cleanup  quiet   p50 ms: quiet  beside cleanup  quiet\n")
	job := &job{db: r.full, exe: r.exe}
	defer job.end()
	var before, beside, after []float64
	for round := range 2 * r.rounds {
		var got [3]reading
		for i := range got {
			if err := r.ready(ctx, r.full); err != nil {
				return err
			}
			var err error
			if got[i], err = r.window(ctx, job, i == 1); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		if job.done() {
			break // it ended within this round
		}
		before, beside, after = append(before, got[0].p99()), append(beside, got[1].p99()), append(after, got[2].p99())
		fmt.Printf("%5d   %27.1f %15.1f %6.1f   %13.1f %15.1f %6.1f\n", round+1, before[round], beside[round], after[round], got[0].p50(), got[1].p50(), got[2].p50())
	}
	measured := job.ran
	if err := job.finish(ctx); err != nil {
		return err
	}
	fmt.Printf("%s in %v, of which %v were measured\n", job.said(), job.ran.Round(time.Second), measured.Round(time.Second))
	ratio := bench.Ratio(mean(before, after), beside)
	fmt.Printf("%-18s beside a cleanup over quiet %s   noise %s   %s\n", "fresh orders' p99", show(ratio), show(bench.Ratio(before, after)), bar{1.2, true}.say(ratio))
	return nil
}

// window measures the orders, with the cleanup running or not.
func (r *retention) window(ctx context.Context, job *job, running bool) (reading, error) {
	if !running {
		return r.orders(ctx, r.full)
	}
	if err := job.run(ctx); err != nil {
		return reading{}, err
	}
	got, err := r.orders(ctx, r.full)
	if err := job.hold(); err != nil {
		return got, err
	}
	return got, err
}

// job is the cleanup as a user runs it.
type job struct {
	db     *database
	exe    string
	cmd    *exec.Cmd
	out    bytes.Buffer
	since  time.Time
	ran    time.Duration
	exited chan struct{}
	err    error
}

// run starts it, or lets it go on.
func (j *job) run(ctx context.Context) error {
	j.since = time.Now()
	if j.cmd != nil {
		return j.signal(syscall.SIGCONT)
	}
	j.cmd = exec.CommandContext(ctx, j.exe, "cleanup")
	j.cmd.Env = append(j.cmd.Environ(), "DATABASE_URL="+j.db.dsn)
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	if err := j.cmd.Start(); err != nil {
		j.cmd = nil
		return fmt.Errorf("start the cleanup: %w", err)
	}
	j.exited = make(chan struct{})
	go func() {
		j.err = j.cmd.Wait()
		j.ran += time.Since(j.since) // of its last piece
		close(j.exited)
	}()
	return nil
}

func (j *job) hold() error {
	if j.done() {
		return j.err
	}
	err := j.signal(syscall.SIGSTOP)
	if !j.done() {
		j.ran += time.Since(j.since)
	}
	return err
}

func (j *job) signal(s syscall.Signal) error {
	if j.done() {
		return j.err
	}
	if err := j.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal the cleanup: %w", err)
	}
	return nil
}

func (j *job) done() bool {
	if j.cmd == nil {
		return false
	}
	select {
	case <-j.exited:
		return true
	default:
		return false
	}
}

// finish lets it run to its end.
func (j *job) finish(ctx context.Context) error {
	if !j.done() {
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	select {
	case <-j.exited:
	case <-time.After(endWithin):
		return fmt.Errorf("the cleanup had not ended after %v", endWithin)
	}
	if j.err != nil {
		return fmt.Errorf("cleanup: %w: %.300s", j.err, j.said())
	}
	return nil
}

// said is what it printed; only after its end.
func (j *job) said() string { return strings.TrimSpace(j.out.String()) }

// end leaves no process.
func (j *job) end() {
	if j.cmd != nil && !j.done() {
		_ = j.cmd.Process.Kill() // it may have ended meanwhile
		<-j.exited
	}
}
