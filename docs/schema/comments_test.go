package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// source is what the code says beside its types: comments, and the values that a named string type may have.
type source struct {
	comments map[string]string   // by "package.Type" and "package.Type.Field"
	values   map[string][]string // by "package.Type", in the order of the constants
}

// folders are the packages whose types stand in files, from the root of the repository.
var folders = []string{
	"harness/history", "harness/verdict", "harness/evidence", "harness/latency", "harness/schedule", "harness/plan", "harness/fault",
	"harness/subject", "harness/check", "harness/bench", "scenarios", "reports",
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{comments: map[string]string{}, values: map[string][]string{}}
	for _, folder := range folders {
		paths, err := filepath.Glob("../../" + folder + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(paths), err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if d, ok := decl.(*ast.GenDecl); ok {
					s.declaration(file.Name.Name, d)
				}
			}
		}
	}
	return s
}

func (s source) declaration(pkg string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			name := pkg + "." + spec.Name.Name
			doc := spec.Doc
			if doc == nil {
				doc = d.Doc
			}
			s.comments[name] = sentenceOf(doc)
			if body, ok := spec.Type.(*ast.StructType); ok {
				s.fields(name, body)
			}
		case *ast.ValueSpec:
			s.constants(pkg, spec)
		}
	}
}

func (s source) fields(name string, body *ast.StructType) {
	for _, f := range body.Fields.List {
		text := sentenceOf(f.Comment)
		if text == "" {
			text = sentenceOf(f.Doc)
		}
		for _, ident := range f.Names {
			s.comments[name+"."+ident.Name] = text
		}
	}
}

func (s source) constants(pkg string, spec *ast.ValueSpec) {
	of, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			s.values[pkg+"."+of.Name] = append(s.values[pkg+"."+of.Name], text)
		}
	}
}

func sentenceOf(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// typeName is how comments and definitions name a type.
func typeName(t reflect.Type) string { return t.String() }
