// Makes the tables and empties Redis: the keys of an earlier run would be answered with orders of its database, which is gone.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Client } = require('pg')
const { createClient } = require('redis')

async function prepare() {
  if (!process.env.DISPOSABLE_REDIS_URL) throw new Error('DISPOSABLE_REDIS_URL: missing; start a redis-server that may be emptied and set it, such as redis://127.0.0.1:6399')
  const database = new Client({ connectionString: process.env.DATABASE_URL })
  await database.connect()
  await database.query(readFileSync(join(__dirname, 'schema.sql'), 'utf8'))
  await database.end()
  const redis = createClient({ url: process.env.DISPOSABLE_REDIS_URL })
  await redis.connect()
  await redis.flushDb()
  await redis.quit()
}

prepare().catch((err) => { console.error(err.message); process.exit(1) })
