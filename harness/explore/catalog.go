package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Catalog is what a database says about its tables, as far as it decides what a statement touches beside those that it names.
// The zero value knows no table, and then every statement may touch anything.
type Catalog struct {
	plain    map[string]bool     // false for views, tables with triggers, rules, row security or unknown defaults
	parents  map[string][]string // tables whose rows a foreign key check reads and locks
	children map[string][]child  // tables that refer to this one
}

type child struct {
	table  string
	writes bool // deleting or updating the parent writes here too (cascade, set null, set default)
}

// tablesSQL leaves out what is in more than one schema, where the search path decides. A default is known if it calls only functions
// that touch no table; sequences of serial columns belong to their table.
const tablesSQL = `
SELECT c.relname::text,
       bool_and(n.nspname = 'public' AND c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relrowsecurity
                AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
                AND NOT EXISTS (SELECT 1 FROM pg_inherits h WHERE c.oid IN (h.inhrelid, h.inhparent))
                AND NOT EXISTS (SELECT 1 FROM pg_attrdef d WHERE d.adrelid = c.oid
                                AND pg_get_expr(d.adbin, d.adrelid) ~ '[a-z_]+\('
                                AND pg_get_expr(d.adbin, d.adrelid) !~ '^(nextval|now|gen_random_uuid|clock_timestamp)\([^(]*\)$'))
           AND count(*) = 1
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
GROUP BY c.relname`

const foreignKeysSQL = `
SELECT k.conrelid::regclass::text, k.confrelid::regclass::text, k.confdeltype NOT IN ('a', 'r') OR k.confupdtype NOT IN ('a', 'r')
FROM pg_constraint k WHERE k.contype = 'f'`

// ReadCatalog asks the database.
func ReadCatalog(ctx context.Context, conn *pgx.Conn) (Catalog, error) {
	c := Catalog{plain: map[string]bool{}, parents: map[string][]string{}, children: map[string][]child{}}
	var table, parent string
	var flag bool
	rows, err := conn.Query(ctx, tablesSQL)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&table, &flag}, func() error {
			c.plain[table] = flag
			return nil
		})
	}
	if err != nil {
		return Catalog{}, fmt.Errorf("read the catalog's tables: %w", err)
	}
	rows, err = conn.Query(ctx, foreignKeysSQL)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&table, &parent, &flag}, func() error {
			c.parents[table] = append(c.parents[table], parent)
			c.children[parent] = append(c.children[parent], child{table, flag})
			return nil
		})
	}
	if err != nil {
		return Catalog{}, fmt.Errorf("read the catalog's foreign keys: %w", err)
	}
	return c, nil
}

// Footprint is what one statement may touch, foreign keys followed. COMMIT and ROLLBACK have the footprint of their
// transaction, which one statement alone does not say: here they count as everything.
func (c Catalog) Footprint(sql string) schedule.Footprint {
	return c.footprint(understand(sql))
}

// everything is the footprint of what is not understood.
var everything = schedule.Footprint{All: true}

func (c Catalog) footprint(s statement) schedule.Footprint {
	switch s.verb {
	case nothing, begins, marks:
		return schedule.Footprint{}
	case opaque, ends:
		return everything
	}
	f := c.read(s)
	for _, table := range s.writes {
		f = f.Union(c.written(table, s.verb == modifies, nil))
	}
	return f
}

// read is what a statement reads: the tables that it must, which have to be known, and all others that it names.
func (c Catalog) read(s statement) schedule.Footprint {
	var read []string
	for _, table := range s.reads {
		if _, known := c.plain[table]; !known {
			return everything
		}
	}
	for _, name := range s.mentions {
		plain, known := c.plain[name]
		if known && !plain || strings.HasPrefix(name, "pg_") && !slices.Contains(transactionLocks, name) || name == "information_schema" {
			return everything
		}
		if known {
			read = append(read, name)
		}
	}
	if s.locks {
		return schedule.Writing(read...)
	}
	return schedule.Reading(read...)
}

// written is what a write to a table touches; seen ends cycles of foreign keys.
func (c Catalog) written(table string, changes bool, seen []string) schedule.Footprint {
	f := schedule.Writing(table)
	if isSequence(table) || table == advisoryLocks {
		return f
	}
	if !c.plain[table] {
		return everything
	}
	f = f.Union(schedule.Reading(c.parents[table]...))
	if !changes {
		return f
	}
	seen = append(seen, table)
	for _, child := range c.children[table] {
		switch {
		case !child.writes:
			f = f.Union(schedule.Reading(child.table))
		case !slices.Contains(seen, child.table):
			f = f.Union(c.written(child.table, true, seen))
		}
	}
	return f
}

func isSequence(name string) bool { return strings.HasPrefix(name, sequencePrefix) }

// advisoryLocks stands for all advisory locks of transactions together: whose argument is which is not known. Those of sessions
// outlive what is known of a transaction, and stay opaque.
const advisoryLocks = "advisory locks"

// sequencePrefix tells a sequence from a table of the same name.
const sequencePrefix = "sequence "
