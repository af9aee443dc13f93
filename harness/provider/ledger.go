package provider

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const ledgerFile = "ledger.jsonl"

// Charge is one line of the ledger: money taken once.
type Charge struct {
	ID          string    `json:"id"`
	Key         string    `json:"key,omitempty"` // the forwarded Idempotency-Key
	UserID      int64     `json:"user_id"`
	AmountCents int64     `json:"amount_cents"`
	Plan        string    `json:"plan"`
	OperationID string    `json:"operation_id,omitempty"`
	At          time.Time `json:"at"` // the provider's clock, UTC
}

// ledger is an append-only file of charges.
type ledger struct {
	mu    sync.Mutex
	file  *os.File
	size  int64 // bytes of whole lines
	count int   // charges in them
}

// openLedger returns the charges of an earlier life as well. An unfinished last line
// is what a crash leaves of a charge that was never acknowledged: it is cut off.
func openLedger(dir string) (*ledger, []Charge, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("create the folder of the ledger: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, ledgerFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open the ledger: %w", err)
	}
	l := &ledger{file: file}
	charges, err := l.load()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the ledger %s: %w", file.Name(), err), file.Close())
	}
	return l, charges, nil
}

func (l *ledger) load() ([]Charge, error) {
	if err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("another provider uses it: %w", err)
	}
	charges, size, err := parse(l.file)
	if err != nil {
		return nil, err
	}
	l.count, l.size = len(charges), size
	return charges, l.file.Truncate(size)
}

// parse reads whole lines and returns how many bytes they take; what follows the
// last line feed is not looked at.
func parse(from io.Reader) (charges []Charge, size int64, err error) {
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return charges, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var charge Charge
		if err := json.Unmarshal(line, &charge); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(charges)+1, err)
		}
		charges = append(charges, charge)
		size += int64(len(line))
	}
}

// add numbers the charge and returns it once it is on disk.
func (l *ledger) add(charge Charge) (Charge, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	charge.ID = fmt.Sprintf("ch_%06d", l.count+1)
	line, err := json.Marshal(charge)
	if err != nil {
		return Charge{}, fmt.Errorf("write charge %s: %w", charge.ID, err)
	}
	if err := l.append(append(line, '\n')); err != nil {
		return Charge{}, fmt.Errorf("write charge %s: %w", charge.ID, err)
	}
	l.count++
	return charge, nil
}

// append writes a line and syncs it, or takes it back.
func (l *ledger) append(line []byte) error {
	_, err := l.file.Write(line)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(line))
	return nil
}

// onDisk reads the charges back from the file.
func (l *ledger) onDisk() ([]Charge, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.Open(l.file.Name())
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer file.Close()
	charges, _, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("read the ledger %s: %w", file.Name(), err)
	}
	return charges, nil
}

func (l *ledger) close() error { return l.file.Close() }
