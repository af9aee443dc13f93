package main

import (
	"errors"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/jackc/pgx/v5/pgxpool"
)

const insertOrder = `INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id`

// orders are placed here. It knows nothing of keys, but that it writes them down as evidence.
type orders struct{ db *pgxpool.Pool }

type order struct {
	Item     string `json:"item"`
	Quantity int    `json:"quantity"`
}

var errBroken = errors.New("the warehouse does not answer")

func (o orders) place(c fiber.Ctx) error {
	var wanted order
	if err := c.Bind().JSON(&wanted); err != nil {
		return c.Status(fiber.StatusBadRequest).JSON(fiber.Map{"error": "the body must be an order"})
	}
	switch wanted.Item {
	case "gold": // refused: an answer as any other to the middleware
		return c.Status(fiber.StatusUnprocessableEntity).JSON(fiber.Map{"error": "out of stock"})
	case "bomb": // fails: an error to the middleware
		return errBroken
	case "slow": // takes its time, so that a duplicate finds it at work
		time.Sleep(500 * time.Millisecond)
	}
	var id int64
	if err := o.db.QueryRow(c, insertOrder, c.Get("X-Idempotency-Key"), wanted.Item, wanted.Quantity).Scan(&id); err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{"id": id})
}
