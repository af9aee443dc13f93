package pgwire

import (
	"bytes"

	"github.com/jackc/pgx/v5/pgproto3"
)

// op is a message of the extended protocol that the database will answer; undo
// takes back what the proxy assumed about its success.
type op struct {
	kind byte
	undo func()
}

// decoded is what a step's bytes say.
type decoded struct {
	kind     Kind
	prepares []Statement
	executes []Statement
	ops      []op
}

// ready tells whether ReadyForQuery ends the step's answer.
func (d *decoded) ready() bool { return d.kind != Flushed }

// decoder remembers a connection's prepared statements and portals. What it
// cannot read it leaves out: the database will refuse it.
type decoder struct {
	keepParams bool
	prepared   map[string]Statement
	portals    map[string]Statement
}

func newDecoder(keepParams bool) *decoder {
	return &decoder{keepParams: keepParams, prepared: map[string]Statement{}, portals: map[string]Statement{}}
}

// decode reads whole messages, as the assembler made sure they are.
func (d *decoder) decode(step []byte) *decoded {
	out := &decoded{kind: Extended}
	for len(step) >= headerLen {
		length, ok := bodyLen(step)
		if !ok || length > int64(len(step)-headerLen) {
			break
		}
		d.message(out, step[0], step[headerLen:headerLen+length])
		step = step[headerLen+length:]
	}
	if out.kind == Extended && len(out.ops) == 0 {
		out.kind = Sync
	}
	return out
}

func (d *decoder) message(out *decoded, kind byte, body []byte) {
	switch kind {
	case 'Q':
		out.kind = Query
		d.query(out, body)
	case 'F':
		out.kind = Call
		out.executes = append(out.executes, Statement{SQL: "FUNCTION CALL"})
	case 'H':
		out.kind = Flushed
	case 'P':
		out.ops = append(out.ops, op{kind, d.parse(out, body)})
	case 'B':
		out.ops = append(out.ops, op{kind, d.bind(body)})
	case 'C':
		out.ops = append(out.ops, op{kind, d.close(body)})
	case 'D':
		out.ops = append(out.ops, op{kind: kind})
	case 'E':
		d.execute(out, body)
		out.ops = append(out.ops, op{kind: kind})
	}
}

// query drops the unnamed statement and portal, as the database does.
func (d *decoder) query(out *decoded, body []byte) {
	delete(d.prepared, "")
	delete(d.portals, "")
	text, _, _ := bytes.Cut(body, []byte{0})
	out.executes = append(out.executes, Statement{SQL: string(text)})
}

func (d *decoder) parse(out *decoded, body []byte) (undo func()) {
	var m pgproto3.Parse
	if m.Decode(body) != nil {
		return nil
	}
	statement := Statement{Name: m.Name, SQL: m.Query}
	out.prepares = append(out.prepares, statement)
	return assign(d.prepared, m.Name, statement)
}

func (d *decoder) bind(body []byte) (undo func()) {
	var m pgproto3.Bind
	if m.Decode(body) != nil {
		return nil
	}
	statement := d.prepared[m.PreparedStatement]
	statement.Name, statement.Portal = m.PreparedStatement, m.DestinationPortal
	if d.keepParams {
		statement.Params = params(&m)
	}
	return assign(d.portals, m.DestinationPortal, statement)
}

// params copies: the message aliases the step's bytes. One format code
// stands for all parameters, none for text.
func params(m *pgproto3.Bind) []Param {
	out := make([]Param, len(m.Parameters))
	for i, value := range m.Parameters {
		out[i].Value = bytes.Clone(value)
		switch codes := m.ParameterFormatCodes; {
		case len(codes) == 1:
			out[i].Binary = codes[0] == pgproto3.BinaryFormat
		case i < len(codes):
			out[i].Binary = codes[i] == pgproto3.BinaryFormat
		}
	}
	return out
}

func (d *decoder) execute(out *decoded, body []byte) {
	var m pgproto3.Execute
	if m.Decode(body) != nil {
		return
	}
	statement := d.portals[m.Portal]
	statement.Portal = m.Portal
	out.executes = append(out.executes, statement)
}

func (d *decoder) close(body []byte) (undo func()) {
	var m pgproto3.Close
	if m.Decode(body) != nil {
		return nil
	}
	if m.ObjectType == 'S' {
		return remove(d.prepared, m.Name)
	}
	return remove(d.portals, m.Name)
}

// transactionEnded forgets the portals, which live no longer than that.
func (d *decoder) transactionEnded() { clear(d.portals) }

func assign(m map[string]Statement, name string, s Statement) (undo func()) {
	before, had := m[name]
	m[name] = s
	return restore(m, name, before, had)
}

func remove(m map[string]Statement, name string) (undo func()) {
	before, had := m[name]
	delete(m, name)
	return restore(m, name, before, had)
}

func restore(m map[string]Statement, name string, before Statement, had bool) func() {
	return func() {
		delete(m, name)
		if had {
			m[name] = before
		}
	}
}
