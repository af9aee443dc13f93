package pgwire

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

func encodeAll(messages ...pgproto3.Message) []byte {
	var out []byte
	for _, m := range messages {
		out = append(out, encode(m)...)
	}
	return out
}

func clientSeeds() [][]byte {
	batch := encodeAll(&pgproto3.Parse{Name: "a", Query: "SELECT $1"}, &pgproto3.Bind{
		PreparedStatement: "a", Parameters: [][]byte{[]byte("1"), nil}, ParameterFormatCodes: []int16{0, 1},
	}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Close{ObjectType: 'S', Name: "a"})
	return [][]byte{
		append(bytes.Clone(batch), syncBytes...),
		append(bytes.Clone(batch), flushBytes...),
		encodeAll(&pgproto3.Query{String: "COPY t FROM STDIN"}, &pgproto3.CopyData{Data: []byte("1\n")}, &pgproto3.CopyDone{}),
		encodeAll(&pgproto3.PasswordMessage{Password: "x"}, &pgproto3.Query{String: "BEGIN"}, &pgproto3.Terminate{}),
		{'B', 0x7f, 0xff, 0xff, 0xff, 0},
		{'Q', 0, 0, 0, 3},
		{'S', 0, 0},
	}
}

func serverSeeds() [][]byte {
	return [][]byte{
		encodeAll(&pgproto3.AuthenticationOk{}, &pgproto3.BackendKeyData{ProcessID: 7, SecretKey: []byte{1, 2, 3, 4}},
			&pgproto3.ParameterStatus{Name: "application_name", Value: "a"}, &pgproto3.ReadyForQuery{TxStatus: 'I'}),
		encodeAll(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.DataRow{Values: [][]byte{[]byte("1")}},
			&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, &pgproto3.ReadyForQuery{TxStatus: 'T'}),
		encodeAll(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001"}, &pgproto3.ReadyForQuery{TxStatus: 'E'}),
		encodeAll(&pgproto3.CopyInResponse{}, &pgproto3.CloseComplete{}, &pgproto3.NoData{}, &pgproto3.NoticeResponse{}),
		{'D', 0x7f, 0xff, 0xff, 0xff, 0},
		{'Z', 0, 0, 0, 4},
		{'E', 0, 0, 0, 0},
	}
}

// FuzzClientBytes: whatever a client sends is passed on byte for byte and in
// order, however it is cut into reads, and reading its meaning never panics.
func FuzzClientBytes(f *testing.F) {
	for _, seed := range clientSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, r := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input))} {
			a := assembler{r: bufio.NewReaderSize(r, 64)}
			d := newDecoder(true)
			var out []byte
			for it := a.next(); ; it = a.next() {
				out = append(out, it.bytes...)
				if it.step {
					for _, op := range d.decode(it.bytes).ops {
						if op.undo != nil {
							op.undo()
						}
					}
				}
				if it.end != nil {
					break
				}
			}
			if !bytes.Equal(out, input) {
				t.Fatalf("passed %q of %q", out, input)
			}
		}
	})
}

// FuzzServerBytes: whatever a database sends reaches the client byte for byte,
// however it is cut into reads, and whatever step it seems to answer.
func FuzzServerBytes(f *testing.F) {
	for _, seed := range serverSeeds() {
		f.Add(seed, byte(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, size byte) {
		var out []byte
		l := &ear{identify: func(_ byte, body []byte) { keyData(body) }, write: func(p []byte) error {
			out = append(out, p...)
			return nil
		}}
		for rest := input; len(rest) > 0; {
			if l.current.Load() == nil {
				e := newExchange(&Step{}, nil)
				e.ops = []op{{kind: 'P'}, {kind: 'B'}, {kind: 'D'}, {kind: 'E'}}
				e.ready.Store(len(rest)%2 == 0)
				l.current.Store(e)
			}
			n := min(int(size)+1, len(rest))
			if err := l.hear(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if out = append(out, l.buf...); !bytes.Equal(out, input) {
			t.Fatalf("passed %q of %q", out, input)
		}
	})
}

// dice is a controller whose decisions are the fuzzer's.
type dice []byte

func (d dice) Decide(_ context.Context, s *Step) Action {
	if len(d) == 0 {
		return Action{}
	}
	roll := d[s.Seq%len(d)]
	return Action{Verb: Verb(roll % 5), SplitSync: roll&0x80 != 0, Code: Injectable()[int(roll>>3)%len(Injectable())]}
}

func (dice) Ended(*Step, Outcome) {}

// FuzzBothSides: no pair of peers, however broken, makes a connection outlive
// them, whatever a controller decides.
func FuzzBothSides(f *testing.F) {
	for i, client := range clientSeeds() {
		f.Add(client, serverSeeds()[i], []byte{byte(i), 0x80})
	}
	f.Fuzz(func(t *testing.T, client, server, decisions []byte) {
		database, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var peer sync.WaitGroup
		defer peer.Wait()
		defer database.Close()
		proxy, err := Listen(Options{Upstream: database.Addr().String(), Controller: dice(decisions), Params: true})
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		conn, err := net.Dial("tcp", proxy.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		peer.Go(func() { answer(database, server) })
		hello := encode(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "u"}})
		_, _ = conn.Write(append(hello, client...))
		closeWrite(conn)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); err != nil && err.(net.Error).Timeout() {
			t.Fatal("the connection outlived its peers")
		}
	})
}

// answer is a database that authenticates everyone, says its bytes, and leaves
// when its client does.
func answer(l net.Listener, says []byte) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write(append(readyBytes('I'), says...))
	_, _ = io.Copy(io.Discard, conn)
}
