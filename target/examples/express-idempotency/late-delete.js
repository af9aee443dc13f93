// Shows without Idemstorm what happens when the store is slow at one moment. A handler that fails reports it, and answers 500: the library
// deletes the key twice then, once in reportError and once, without waiting, because the answer was no success. If the second delete comes
// when a retry has claimed the key, it takes the retry's claim away, and the next retry executes again. Run it: node late-delete.js
const express = require('express')
const { idempotency, getSharedIdempotencyService } = require('express-idempotency')

let placed, deleted
const isPlaced = new Promise((resolve) => { placed = resolve })
const isDeleted = new Promise((resolve) => { deleted = resolve })

const resources = new Map()
let deletes = 0
const dataAdapter = {
  async findByIdempotencyKey(key) { return resources.get(key) || null },
  async create(resource) { resources.set(resource.idempotencyKey, resource) },
  async update(resource) { if (resources.has(resource.idempotencyKey)) resources.set(resource.idempotencyKey, resource) },
  async delete(key) {
    const slow = ++deletes === 2
    if (slow) await isPlaced
    resources.delete(key)
    if (slow) deleted()
  },
}

let requests = 0
let orders = 0
const app = express()
app.use(express.json())
app.post('/orders', idempotency({ dataAdapter }), async (request, response) => {
  const service = getSharedIdempotencyService()
  if (service.isHit(request)) return
  if (++requests === 1) {
    await service.reportError(request)
    return response.status(500).send({ error: 'try again' })
  }
  response.status(201).send({ id: ++orders })
})

const server = app.listen(0, '127.0.0.1', async () => {
  const post = async () => {
    const headers = { 'Idempotency-Key': 'one and the same', 'Content-Type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${server.address().port}/orders`, { method: 'POST', headers, body: '{"item":"book"}' })
    console.log(response.status, await response.text())
  }
  await post() // fails
  await post() // succeeds
  placed()
  await isDeleted
  await post() // should be told of that success
  console.log(`${orders} orders under one key`)
  process.exit()
})
