package openapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shop = `openapi: 3.0.3
info: {title: Shop}
servers: [{url: "https://api.example.com/v1"}]
security: [{bearer: []}]
paths:
  /accounts/{account}/orders:
    parameters:
      - {name: account, in: path, schema: {type: string, example: acme co}}
    post:
      operationId: createOrder
      parameters: [{$ref: '#/components/parameters/Key'}]
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Order'}
      responses:
        "201": {headers: {Idempotent-Replayed: {schema: {type: string}}}}
    get: {operationId: listOrders}
  /refunds:
    post: {operationId: refund, security: []}
components:
  securitySchemes: {bearer: {type: http, scheme: bearer}}
  parameters:
    Key: {name: Idempotency-Key, in: header, required: true}
  schemas:
    Base: {type: object, required: [at], properties: {at: {type: string, format: date-time}}}
    Order:
      allOf: [{$ref: '#/components/schemas/Base'}]
      required: [item, quantity, side, reference, lines]
      properties:
        id: {type: string, readOnly: true}
        item: {type: string, example: book}
        quantity: {type: integer, minimum: 1, maximum: 5}
        side: {type: string, enum: [buy, sell]}
        reference: {type: string}
        lines: {type: array, items: {type: object, properties: {price: {type: number}}}}
        parent: {$ref: '#/components/schemas/Order'}
`

func TestAnOperationIsReadWithEverythingThatATargetFileNeeds(t *testing.T) {
	got, err := Read([]byte(shop), "createOrder")
	if err != nil {
		t.Fatal(err)
	}
	want := Operation{
		ID: "createOrder", Title: "Shop", Server: "https://api.example.com/v1", Method: "POST", Path: "/accounts/acme%20co/orders",
		Body:   `{"at": "{{timestamp}}", "item": "book", "lines": [{"price": 1.5}], "quantity": {{number:1-5}}, "reference": "{{unique}}", "side": "{{choice:buy|sell}}"}`,
		Header: "Idempotency-Key", Auth: map[string]string{"Authorization": "Bearer TOKEN"}, Marker: "Idempotent-Replayed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bySpelling, err := Read([]byte(shop), "post /accounts/{account}/orders")
	if err != nil || bySpelling.ID != "createOrder" {
		t.Errorf("by method and path: %v, %v", bySpelling.ID, err)
	}
}

func TestWhatIsNoUseIsRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no OpenAPI 3 document",
		"- a":                           "neither YAML nor JSON",
		`{"openapi": "3.1.0"`:           "neither YAML nor JSON",
		`{"swagger": "2.0"}`:            "no OpenAPI 3 document",
		`{"openapi": "3.1.0"}`:          "no operation changes anything",
		shop:                            "name one of createOrder, refund",
		"openapi: 3.0.0\npaths: [a, b]": "no operation changes anything",
	} {
		if _, err := Read([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
	if _, err := Read([]byte(shop), "cancel"); err == nil || !strings.Contains(err.Error(), `"cancel" is none of createOrder, refund`) {
		t.Errorf("an unknown operation: %v", err)
	}
}

// A schema may refer to itself, and a reference lead in a circle; neither keeps anyone waiting.
func TestCirclesInADocumentEnd(t *testing.T) {
	const circle = `{"openapi": "3.1.0", "paths": {"/p": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}},
		"components": {"schemas": {"A": {"type": "object", "allOf": [{"$ref": "#/components/schemas/A"}], "properties": {"a": {"$ref": "#/components/schemas/A"}, "b": {"$ref": "#/components/schemas/B"}}}, "B": {"$ref": "#/components/schemas/B"}}}}`
	got, err := Read([]byte(circle), "")
	if err != nil || !strings.HasPrefix(got.Body, `{"a": {`) {
		t.Errorf("%v, %.60s", err, got.Body)
	}
}

func FuzzADocumentIsReadOrRefusedInOneLine(f *testing.F) {
	for _, seed := range []string{shop, "", "{", "openapi: 3\npaths: {/a: {post: null}}", `{"openapi":"3.0","paths":{"/a":{"post":{"parameters":[1,{"$ref":"#/"}]}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Read(data, ""); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
	})
}
