package explore

import "slices"

// verb is what a statement is for the explorer.
type verb uint8

const (
	opaque   verb = iota // not understood
	nothing              // an empty statement, as pools send to see whether a connection lives
	begins               // a transaction of the session's own isolation level
	marks                // a savepoint, made or given up: the transaction's writes and locks stay
	ends                 // COMMIT or ROLLBACK of the whole transaction
	queries              // SELECT and VALUES without locks, with or without a table
	inserts              // INSERT
	modifies             // UPDATE, DELETE, SELECT … FOR UPDATE, or several of these in one WITH
)

// statement is what was understood of one SQL statement.
type statement struct {
	verb     verb
	reads    []string // names that stand where a table must be read
	writes   []string // names that are written
	locks    bool     // FOR UPDATE or SHARE: what is read decides what others may write, as if it were written
	mentions []string // every name: a table among them that was overlooked (the last of a list, behind a subquery) is read too
}

var unknownStatement = statement{verb: opaque}

// understand reads one statement. It recognises plain SELECT, INSERT, UPDATE and DELETE, alone or in a WITH, whose functions
// it knows; everything else is opaque. It errs on the side of opaque: what it takes for a table and is none, the catalog refuses.
func understand(sql string) statement {
	ts := tokens(sql)
	for len(ts) > 0 && ts[len(ts)-1].is(";") {
		ts = ts[:len(ts)-1]
	}
	if len(ts) == 0 {
		return statement{verb: nothing}
	}
	if slices.ContainsFunc(ts, func(t token) bool { return t.is(";") }) {
		return unknownStatement
	}
	switch {
	case ts[0].is("begin", "start"):
		return beginning(ts)
	case ts[0].is("savepoint", "release"):
		return statement{verb: marks}
	case ts[0].is("commit", "end", "rollback", "abort"):
		return ending(ts)
	case ts[0].is("select", "insert", "update", "delete", "with", "values"):
		r := reader{ts: ts}
		return r.read()
	}
	return unknownStatement
}

// beginning accepts what leaves snapshots to each statement; another level changes what is independent of what.
func beginning(ts []token) statement {
	for i, t := range ts {
		if t.is("isolation") && !(i+3 < len(ts) && ts[i+2].is("read") && ts[i+3].is("committed")) {
			return unknownStatement
		}
	}
	return statement{verb: begins}
}

func ending(ts []token) statement {
	if slices.ContainsFunc(ts, func(t token) bool { return t.is("to", "prepared", "chain") }) {
		return unknownStatement
	}
	return statement{verb: ends}
}

// reader walks over the tokens of one statement.
type reader struct {
	ts     []token
	ctes   []string
	found  statement
	locks  bool
	update bool
	insert bool
}

func (r *reader) read() statement {
	r.nameCTEs()
	for i := range r.ts {
		if !r.at(i) {
			return unknownStatement
		}
	}
	for _, t := range r.ts {
		if t.kind == wordToken || t.kind == quotedToken {
			r.found.mentions = append(r.found.mentions, t.text)
		}
	}
	isCTE := func(name string) bool { return slices.Contains(r.ctes, name) }
	r.found.reads = slices.DeleteFunc(r.found.reads, isCTE)
	if slices.ContainsFunc(r.found.writes, isCTE) {
		return unknownStatement
	}
	r.found.locks = r.locks
	r.update = r.update || r.locks
	switch {
	case r.update:
		r.found.verb = modifies
	case r.insert:
		r.found.verb = inserts
	default:
		r.found.verb = queries
	}
	return r.found
}

// nameCTEs finds `name AS (` and `name AS MATERIALIZED (`.
func (r *reader) nameCTEs() {
	if !r.ts[0].is("with") {
		return
	}
	for i := 1; i+1 < len(r.ts); i++ {
		if r.ts[i].is("as") && r.ts[i+1].is("(", "materialized", "not") {
			r.ctes = append(r.ctes, r.ts[i-1].text)
		}
	}
}

func (r *reader) token(i int) token {
	if i < 0 || i >= len(r.ts) {
		return token{kind: markToken}
	}
	return r.ts[i]
}

// at takes in the token at i; false means that the statement is not understood.
func (r *reader) at(i int) bool {
	t, before := r.token(i), r.token(i-1)
	switch {
	case t.kind == quotedToken && r.token(i+1).is("("):
		return false // a function with a quoted name
	case t.kind != wordToken:
		return true
	case t.is("from", "join", "using") && !before.is("distinct"):
		return r.tables(i+1, before.is("delete"))
	case t.is("into"):
		r.insert = true
		return before.is("insert") && r.tables(i+1, true)
	case t.is("update", "share") && before.is("for", "key"):
		r.locks = true
		return true
	case t.is("update") && before.is("do"):
		r.update = true
		return true
	case t.is("update"):
		r.update = true
		return r.tables(i+1, true)
	case t.is("delete"):
		r.update = true
		return true
	case t.is("nextval") && r.token(i+1).is("("):
		return r.sequence(r.token(i + 2))
	case t.is("set_config") && r.token(i+1).is("("):
		return slices.Contains(patient, r.token(i+2).text)
	case t.is(transactionLocks...) && r.token(i+1).is("("):
		r.found.writes, r.update = append(r.found.writes, advisoryLocks), true
		return true
	case r.token(i+1).is("(") && !before.is("into", "update", "from", "join"):
		return slices.Contains(harmless, t.text) || r.isName(i)
	}
	return true
}

// isName tells a name with a list of columns from a function: INSERT INTO t (…), x (…) AS, and the target of ON CONFLICT.
func (r *reader) isName(i int) bool {
	before := r.token(i - 1)
	return before.is("into", "as", ".") && r.token(i-2).is("into", "insert", "update") || slices.Contains(r.ctes, r.token(i).text)
}

func (r *reader) sequence(name token) bool {
	if name.kind != textToken {
		return false
	}
	r.found.writes = append(r.found.writes, sequencePrefix+name.text)
	r.update = true
	return true
}

// transactionLocks are functions that take an advisory lock until the transaction ends.
var transactionLocks = []string{"pg_advisory_xact_lock", "pg_try_advisory_xact_lock"}

// patient are settings that end a wait, and change neither what a statement means nor what it touches.
var patient = []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"}

// tables takes in the table names from i on, separated by commas. A subquery is walked over like everything else.
func (r *reader) tables(i int, write bool) bool {
	for {
		for r.token(i).is("only", "lateral") {
			i++
		}
		if r.token(i).is("(") {
			return true
		}
		name, next, ok := r.name(i)
		if !ok {
			return r.isCallable(i)
		}
		if write {
			r.found.writes = append(r.found.writes, name)
		} else {
			r.found.reads = append(r.found.reads, name)
		}
		i = r.afterAlias(next)
		if write || !r.token(i).is(",") {
			return true
		}
		i++
	}
}

// isCallable tells a known set-returning function in the place of a table, and a list of columns after USING.
func (r *reader) isCallable(i int) bool {
	return r.token(i+1).is("(") && slices.Contains(harmless, r.token(i).text)
}

func (r *reader) name(i int) (name string, next int, ok bool) {
	t := r.token(i)
	if t.kind != wordToken && t.kind != quotedToken {
		return "", i, false
	}
	if r.token(i + 1).is(".") {
		if !t.is("public") {
			return "", i, false
		}
		t, i = r.token(i+2), i+2
	} else if r.token(i+1).is("(") && !r.token(i-1).is("into") {
		return "", i, false
	}
	return t.text, i + 1, true
}

func (r *reader) afterAlias(i int) int {
	if r.token(i).is("as") {
		return i + 2
	}
	if t := r.token(i); (t.kind == wordToken || t.kind == quotedToken) && r.token(i+1).is(",") {
		return i + 1
	}
	return i
}

// harmless are words that may stand before a parenthesis: keywords, types, and functions that touch no table and that
// others cannot see. What is not here makes its statement opaque.
var harmless = []string{
	"all", "and", "any", "array", "as", "between", "by", "case", "conflict", "distinct", "else", "except", "exists", "filter", "from",
	"group", "having", "in", "interval", "intersect", "is", "like", "limit", "materialized", "not", "null", "of", "offset", "on", "or",
	"order", "over", "partition", "returning", "row", "select", "set", "some", "then", "union", "using", "values", "when", "where",
	"bigint", "char", "int", "integer", "numeric", "smallint", "text", "timestamp", "timestamptz", "uuid", "varchar",
	"abs", "age", "array_agg", "array_length", "avg", "bool_and", "bool_or", "cardinality", "ceil", "clock_timestamp", "coalesce",
	"concat", "concat_ws", "count", "date_trunc", "encode", "floor", "gen_random_uuid", "generate_series", "greatest", "hashtext", "hashtextextended", "json_agg",
	"json_build_object", "jsonb_agg", "jsonb_build_object", "least", "length", "lower", "lpad", "make_interval", "max", "md5", "min",
	"now", "nullif", "octet_length", "replace", "round", "row_number", "row_to_json", "sha256", "statement_timestamp", "string_agg",
	"substr", "sum", "to_char", "to_json", "to_jsonb", "transaction_timestamp", "trunc", "unnest", "upper",
}
